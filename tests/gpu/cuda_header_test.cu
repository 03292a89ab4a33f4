// Checks the wrappers of ksearch_cuda.h against plain loops, on an H100 or H200. Values are small
// integers, so that every sum is exact in the types used. Prints a line per check; exit status 1 if
// one fails, 2 without a suitable device.
// Build and run, from the root of the sources:
//   nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -Igpu_worker/build/cuda
//        -o cuda_header_test tests/gpu/cuda_header_test.cu && ./cuda_header_test
#include <cstdio>

#include "cuda_header/arithmetic.cuh"
#include "cuda_header/copies.cuh"
#include "cuda_header/warp_matrices.cuh"
#include "cuda_header/warpgroup_matrices.cuh"

int main() {
  cudaDeviceProp device;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) {
    std::printf("skipped: no device of compute capability 9.0\n");
    return 2;
  }
  std::printf("on %s\n", device.name);
  Zeros("conversions", Conversions, 1, 16);
  Zeros("reductions, named barrier", Reductions, 256, 4);
  Copies();
  WarpMatrices();
  CheckN<16>();
  CheckN<32>();
  CheckN<64>();
  CheckN<128>();
  CheckN<256>();
  std::printf("%s\n", failures == 0 ? "all good" : "there are failures");
  return failures == 0 ? 0 : 1;
}

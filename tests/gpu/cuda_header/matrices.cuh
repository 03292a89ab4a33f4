// Memory that host and device share, matrices in it, and what is said of a check.
#ifndef KSEARCH_TESTS_GPU_CUDA_HEADER_MATRICES_CUH_
#define KSEARCH_TESTS_GPU_CUDA_HEADER_MATRICES_CUH_

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "ksearch_cuda.h"

namespace {

int failures = 0;

void Report(const std::string& what, bool good, const std::string& why = "") {
  std::printf("%s %s%s%s\n", good ? "ok    " : "FAILED", what.c_str(), why.empty() ? "" : ": ",
              why.c_str());
  if (!good) ++failures;
}

bool Sync(const std::string& what) {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaSuccess) return true;
  Report(what, false, cudaGetErrorString(error));
  if (error != cudaErrorLaunchFailure) cudaGetLastError();
  return false;
}

// Device memory shared with the host: the tests are small.
template <typename T>
struct Array {
  explicit Array(size_t count) : size(count) {
    if (cudaMallocManaged(&data, count * sizeof(T)) != cudaSuccess) {
      std::printf("FAILED out of memory\n");
      std::exit(2);
    }
    std::memset(static_cast<void*>(data), 0, count * sizeof(T));
  }
  ~Array() { cudaFree(data); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  T& operator[](size_t i) { return data[i]; }
  T* data = nullptr;
  size_t size;
};

int Small(int i, int j) { return (i * 7 + j * 3 + i * j) % 9 - 4; }

float Value(__nv_bfloat16 v) { return __bfloat162float(v); }

// D[i][j] == sum over k of A[i][k] * B[j][k], with A, B as Small gives them.
bool IsProduct(Array<float>& d, int m, int n, int k_size, std::string* why) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float want = 0;
      for (int k = 0; k < k_size; ++k) want += float(Small(i, k)) * float(Small(j + 100, k));
      const float got = d[size_t(i) * n + j];
      if (got != want) {
        *why = "D[" + std::to_string(i) + "][" + std::to_string(j) + "] = " + std::to_string(got) +
               ", expected " + std::to_string(want);
        return false;
      }
    }
  }
  return true;
}

// A is [m][k]; B is [n][k], or [k][n] if `b_rows_of_n`; likewise A.
template <typename T>
void Fill(Array<T>& a, int rows, int k_size, int first, bool transposed) {
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < k_size; ++k) {
      a[transposed ? size_t(k) * rows + i : size_t(i) * k_size + k] = T(float(Small(i + first, k)));
    }
  }
}

}  // namespace

#endif  // KSEARCH_TESTS_GPU_CUDA_HEADER_MATRICES_CUH_

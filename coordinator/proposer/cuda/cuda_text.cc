#include "coordinator/proposer/cuda/cuda_text.h"

#include "absl/strings/string_view.h"

namespace ksearch {
namespace {

constexpr absl::string_view kRules = R"(For CUDA:
- CUDA C++20 with the runtime API, cooperative groups, inline PTX and the toolkit's device headers
  is available; torch headers and prebuilt libraries (cuBLAS, cuDNN, CUTLASS) are not. Nothing but
  the CUDA runtime is linked: a symbol that is not defined in your files does not build.
- The files are compiled by nvcc for exactly one architecture (sm_90a on H100 and H200, sm_100a on
  B200), without relocatable device code and so without kernels that launch kernels, and without
  __device__ lambdas written in host code. Include few headers: each costs build time.
- Put all work on the stream you are given. Work on a stream of your own must begin after and be
  joined into that stream by events before the call returns. Do not synchronise the device or a
  stream: the call returns while the kernels run.
- The call may be captured into a CUDA graph and replayed. So: no allocation and no freeing, no
  synchronous copy, nothing read back to the host, the same launches for the same arguments.
- Scratch memory in device memory comes from ksearch_workspace_bytes; in the call use args->workspace.
- Check launches with cudaGetLastError() and return it as an int if it is not cudaSuccess, else 0.
- A kernel that needs more than 48 KiB of dynamic shared memory must be given leave with
  cudaFuncSetAttribute in the same call.

#include "ksearch_cuda.h" if you want it (it is provided; do not send it). In namespace ks:
- any architecture: bf16x2_to_float2, float2_to_bf16x2, half2_to_float2, float2_to_half2,
  e4m3x2_to_float2, float2_to_e4m3x2, e5m2x2_to_float2, float2_to_e5m2x2 (packed words);
  unpack_bf16x8(uint4, float(&)[8]), pack_bf16x8, unpack_e4m3x16, pack_e4m3x4; fast_exp2;
  load128, store128, load128_stream, store128_stream; warp_sum<width>, warp_max<width>,
  block_sum<threads>(x, scratch); named_barrier(id, threads); smem_address(pointer)
- sm_80: cp_async16(smem, global), cp_async16_or_zero(smem, global, valid), cp_async_commit(),
  cp_async_wait<n>(); ldmatrix_x4(r, row), ldmatrix_x4_trans; mma_m16n8k16_bf16(d, a, b0, b1),
  mma_m16n8k16_f16, mma_m16n8k32_e4m3; mbarrier_init(b, arrivals), mbarrier_arrive(b)
- sm_90: mbarrier_fence_init(), mbarrier_arrive_expect(b, bytes), mbarrier_wait(b, parity),
  mbarrier_try_wait; bulk_load(smem, global, bytes, b), bulk_store(global, smem, bytes),
  bulk_commit(), bulk_wait<n>(), bulk_wait_read<n>(); tma_load_2d(smem, &map, x, y, b),
  tma_store_2d(&map, x, y, smem), tma_prefetch(&map); fence_async_shared();
  swizzle128(byte_offset); launch_dependents(), wait_for_previous_kernel(); on the host
  make_tensor_map_2d(&map, type, base, rows, columns, row_bytes, box_rows, box_columns), for a
  parameter `const __grid_constant__ CUtensorMap map`
- sm_90a: wgmma_fence(), wgmma_commit(), wgmma_wait<n>();
  wgmma_m64nNk16_bf16<trans_a, trans_b>(d, descriptor_a, descriptor_b, accumulate),
  wgmma_m64nNk16_bf16_rs<trans_b>(d, a, descriptor_b, accumulate),
  wgmma_m64nNk32_e4m3(d, descriptor_a, descriptor_b, accumulate), N = 16, 32, 64, 128 or 256 and
  float d[N / 2]; wgmma_descriptor(tile, byte_offset) for rows of K, wgmma_descriptor_mn(tile,
  stride, byte_offset) for rows of M or N, both with 128-byte rows in 128-byte swizzle, 1024-byte
  aligned; registers_claim<n>(), registers_release<n>()
  Thread 32 w + 4 g + t of the warpgroup holds D[16 w + g][8 j + 2 t ..] in d[4 j], d[4 j + 1] and
  the row 8 below in d[4 j + 2], d[4 j + 3].
- macros: KSEARCH_LAUNCH_CHECK() after a launch in the entry, KSEARCH_CHECK(call)
)";

}  // namespace

std::string CudaRulesText() { return std::string(kRules); }

}  // namespace ksearch

#include "coordinator/proposer/language/cuda_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "coordinator/proposer/language/c_entry_text.h"
#include "coordinator/proposer/language/device_generation.h"

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
  joined into that stream by events before the call returns. Do not synchronize the device or a
  stream: the call returns while the kernels run.
- The call may be captured into a CUDA graph and replayed. So: no allocation and no freeing, no
  synchronous copy, nothing read back to the host, the same launches for the same arguments.
- Scratch memory in device memory comes from ksearch_workspace_bytes; in the call use args->workspace.
- Check launches with cudaGetLastError() and return it as an int if it is not cudaSuccess, else 0.
- A kernel that needs more than 48 KiB of dynamic shared memory must request it with
  cudaFuncSetAttribute in the same call.
)";

constexpr absl::string_view kPermissions =
    R"(- A few __device__ counters are fine if every call leaves them as it found them; scratch arrays in
  __device__ variables are not. Workspace is not cleared between calls: clear what you read. Set
  function attributes in every call; their host time is hidden.
)";

// The helper names that the prompts of preset paper use.
constexpr absl::string_view kHelperNames = R"(
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

constexpr absl::string_view kHelperDeclarations = R"(
#include "ksearch_cuda.h" if you want it (it is provided; do not send it). All in namespace ks, device functions
unless said; a packed word holds the element of the lower index in its low bits:
- any architecture:
  float2 bf16x2_to_float2(uint32_t), half2_to_float2(uint32_t), e4m3x2_to_float2(uint16_t), e5m2x2_to_float2(uint16_t)
  uint32_t float2_to_bf16x2(float lo, float hi), float2_to_half2(float lo, float hi)
  uint16_t float2_to_e4m3x2(float lo, float hi), float2_to_e5m2x2(float lo, float hi)
  void unpack_bf16x8(uint4, float (&f)[8]), unpack_e4m3x16(uint4, float (&f)[16])
  uint4 pack_bf16x8(const float (&f)[8]); uint32_t pack_e4m3x4(float a, float b, float c, float d)
  float fast_exp2(float); uint4 load128(const void*), load128_stream(const void*)
  void store128(void*, uint4), store128_stream(void*, uint4); uint32_t smem_address(const void*)
  template <int width = 32> float warp_sum(float), warp_max(float); void named_barrier(int id, int threads)
  template <int threads> float block_sum(float, float* scratch)
- sm_80:
  void cp_async16(void* smem, const void* global), cp_async16_or_zero(void* smem, const void* global, bool valid)
  void cp_async_commit(); template <int n> void cp_async_wait()
  void ldmatrix_x4(uint32_t (&r)[4], const void* row), ldmatrix_x4_trans(uint32_t (&r)[4], const void* row)
  void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1); alike mma_m16n8k16_f16,
  mma_m16n8k32_e4m3 (d += a b)
  void mbarrier_init(uint64_t* b, uint32_t arrivals), mbarrier_arrive(uint64_t* b)
- sm_90:
  void mbarrier_fence_init(), mbarrier_arrive_expect(uint64_t* b, uint32_t bytes)
  void mbarrier_wait(uint64_t* b, uint32_t parity); bool mbarrier_try_wait(uint64_t* b, uint32_t parity)
  void bulk_load(void* smem, const void* global, uint32_t bytes, uint64_t* b)
  void bulk_store(void* global, const void* smem, uint32_t bytes), bulk_commit()
  template <int n> void bulk_wait(), bulk_wait_read(); void fence_async_shared()
  void tma_load_2d(void* smem, const CUtensorMap*, int x, int y, uint64_t* b)
  void tma_store_2d(const CUtensorMap*, int x, int y, const void* smem), tma_prefetch(const CUtensorMap*)
  uint32_t swizzle128(uint32_t byte_offset) (host, too); void launch_dependents(), wait_for_previous_kernel()
  on the host cudaError_t make_tensor_map_2d(CUtensorMap*, CUtensorMapDataType, const void* base, uint64_t rows,
  uint64_t columns, uint64_t row_bytes, uint32_t box_rows, uint32_t box_columns, CUtensorMapSwizzle =
  CU_TENSOR_MAP_SWIZZLE_128B), for a parameter `const __grid_constant__ CUtensorMap map`
- sm_90a, N = 16, 32, 64, 128 or 256:
  void wgmma_fence(), wgmma_commit(); template <int n> void wgmma_wait(), registers_claim(), registers_release()
  template <int trans_a = 0, int trans_b = 0> void wgmma_m64nNk16_bf16(float (&d)[N / 2], uint64_t a, uint64_t b,
  int accumulate); void wgmma_m64nNk32_e4m3(float (&d)[N / 2], uint64_t a, uint64_t b, int accumulate)
  template <int trans_b = 0> void wgmma_m64nNk16_bf16_rs(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b,
  int accumulate)
  uint64_t wgmma_descriptor(const void* tile, uint32_t byte_offset = 0) for rows of K, wgmma_descriptor_mn(const void*
  tile, uint32_t stride, uint32_t byte_offset = 0) for rows of M or N, both with 128-byte rows in 128-byte swizzle,
  1024-byte aligned
  Thread 32 w + 4 g + t of the warpgroup holds D[16 w + g][8 j + 2 t ..] in d[4 j], d[4 j + 1] and
  the row 8 below in d[4 j + 2], d[4 j + 3].
- macros: KSEARCH_LAUNCH_CHECK() after a launch in the entry, KSEARCH_CHECK(call)
)";

constexpr absl::string_view kPlanning =
    "scratch memory comes with the call. CUDA C++20 and PTX for one architecture, no prebuilt "
    "libraries. All work is on the given "
    "stream, or joined "
    "into it; the call may be recorded into a graph, so it neither allocates nor synchronizes nor "
    "reads back. "
    "No __device__ arrays as scratch.";

constexpr absl::string_view kHintsHopper =
    R"(- The device is of the Hopper generation (compute capability 9.0): asynchronous bulk copies (TMA) with
  mbarrier, warpgroup matrix instructions (wgmma) with operands in shared memory, thread-block
  clusters with distributed shared memory, up to 227 KiB of shared memory a block. Use tensor cores
  where the mathematics is a matrix product and the tolerance allows their precision.
)";

constexpr absl::string_view kHintsBlackwell =
    R"(- The device is of the Blackwell generation (compute capability 10.x): tcgen05 matrix instructions with
  accumulators in tensor memory, TMA, clusters, up to 227 KiB of shared memory a block; the
  warpgroup instructions of Hopper (wgmma) do not exist there.
)";

}  // namespace

LanguageWords CudaText::Words(v1::DeviceClass /*device*/) const { return CWords(kPlanning); }

std::string CudaText::Rules(v1::DeviceClass /*device*/, bool paper) const {
  if (paper) return absl::StrCat(kRules, kHelperNames);
  return absl::StrCat(kRules, kPermissions, kHelperDeclarations);
}

std::string CudaText::Entry(const v1::Definition& /*definition*/) const {
  return CEntryText(", cudaStream_t");
}

std::string CudaText::EntryPoint(const v1::Definition& /*definition*/, v1::DeviceClass /*device*/,
                                 const std::string& kernel_header) const {
  return CEntryPointText(", cudaStream_t stream", kernel_header);
}

std::string CudaText::Hints(v1::DeviceClass /*device*/, const std::string& hardware) const {
  switch (GenerationOf(hardware)) {
    case DeviceGeneration::kHopper:
      return std::string(kHintsHopper);
    case DeviceGeneration::kBlackwell:
      return std::string(kHintsBlackwell);
    case DeviceGeneration::kUnknown:
      break;
  }
  return "";
}

}  // namespace ksearch

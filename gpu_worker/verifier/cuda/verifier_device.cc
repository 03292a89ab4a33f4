#include "gpu_worker/verifier/cuda/verifier_device.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "gpu_worker/cuda/cuda_error.h"
#include "gpu_worker/verifier/tensors/suite_verdict.h"

// trusted_kernels.cu, compiled.
extern "C" const unsigned long long ksearch_verifier_kernels_image[];

namespace ksearch {
namespace {

constexpr const char* kKernelNames[] = {"ksearch_draw",    "ksearch_poison",      "ksearch_guards",
                                        "ksearch_collect", "ksearch_fingerprint", "ksearch_compare",
                                        "ksearch_copy"};
constexpr int64_t kLeastStageBytes = int64_t{4} << 20;
constexpr int64_t kLeastFindings = 4096;
constexpr int kMaxCompareBlocks = 1024;
constexpr int64_t kBandwidthBytes = int64_t{512} << 20;
constexpr int kBandwidthCopies = 6;

int64_t Chunks(int64_t bytes) { return (bytes + 15) / 16; }

}  // namespace

device::Kind DeviceKind(v1::DType dtype) {
  switch (dtype) {
    case v1::DTYPE_FLOAT32:
      return device::Kind::kFloat32;
    case v1::DTYPE_FLOAT16:
      return device::Kind::kFloat16;
    case v1::DTYPE_BFLOAT16:
      return device::Kind::kBfloat16;
    case v1::DTYPE_FLOAT8_E4M3FN:
      return device::Kind::kE4m3;
    case v1::DTYPE_FLOAT8_E5M2:
      return device::Kind::kE5m2;
    case v1::DTYPE_INT64:
      return device::Kind::kInt64;
    case v1::DTYPE_INT32:
      return device::Kind::kInt32;
    case v1::DTYPE_INT16:
      return device::Kind::kInt16;
    case v1::DTYPE_INT8:
      return device::Kind::kInt8;
    case v1::DTYPE_BOOL:
      return device::Kind::kBool;
    default:
      CHECK(false);
  }
}

absl::StatusOr<std::shared_ptr<VerifierDevice>> VerifierDevice::Open(absl::string_view gpu_uuid) {
  ASSIGN_OR_RETURN(std::shared_ptr<const DriverApi> api, DriverApi::Load());
  ASSIGN_OR_RETURN(std::shared_ptr<const CudaDevice> device,
                   CudaDevice::Open(std::move(api), gpu_uuid));
  auto opened = std::shared_ptr<VerifierDevice>(new VerifierDevice(std::move(device)));
  RETURN_IF_ERROR(Annotate(opened->Prepare(), opened->device().uuid()));
  return opened;
}

absl::Status VerifierDevice::Prepare() {
  ASSIGN_OR_RETURN(module_, LoadCudaModule(api(), ksearch_verifier_kernels_image));
  for (const char* name : kKernelNames) {
    ASSIGN_OR_RETURN(const CUfunction function, FindCudaFunction(api(), module_, name));
    kernels_.push_back(function);
  }
  ASSIGN_OR_RETURN(stream_, MakeCudaStream(api()));
  ASSIGN_OR_RETURN(
      partials_, AllocateCudaBlock(api(), static_cast<int64_t>(sizeof(device::PartialComparison)) *
                                              kMaxCompareBlocks));
  sweep_half_ = device_->l2_bytes() / 16 * 16;
  if (sweep_half_ > 0) {
    ASSIGN_OR_RETURN(sweep_, AllocateCudaBlock(api(), 2 * sweep_half_));
    // Not zeros: caches compress them.
    RETURN_IF_CUDA_ERROR(
        api(),
        api().cuMemsetD32(sweep_.get(), 0x3F8CCCCDu, static_cast<size_t>(2 * sweep_half_ / 4)),
        "fill device memory");
  }
  return absl::OkStatus();
}

bool VerifierDevice::Keep(CUresult result, absl::string_view doing) {
  if (result != CUDA_SUCCESS && health_.ok()) {
    health_ = CudaStatus(api(), result, absl::StrCat("GPU ", device_->uuid(), ": ", doing));
    LOG(ERROR) << "msg=\"the device failed\" error=\"" << health_.message() << "\"";
  }
  return health_.ok();
}

bool VerifierDevice::Synchronize() {
  return health_.ok() && Keep(api().cuStreamSynchronize(stream()), "wait for trusted kernels");
}

void VerifierDevice::Launch(Kernel kernel, int64_t chunks, int y, std::vector<void*> arguments,
                            int threads) {
  if (!health_.ok() || y == 0) return;
  const auto x = static_cast<unsigned int>(
      std::clamp<int64_t>((chunks + threads - 1) / threads, 1, MaxBlocks()));
  const size_t index = static_cast<size_t>(kernel);
  Keep(api().cuLaunchKernel(kernels_[index], x, static_cast<unsigned int>(y), 1,
                            static_cast<unsigned int>(threads), 1, 1, 0, stream(), arguments.data(),
                            nullptr),
       absl::StrCat("launch ", kKernelNames[index]));
}

std::byte* VerifierDevice::Stage(int64_t bytes) {
  if (!health_.ok()) return nullptr;
  if (staged_ + bytes > stage_bytes_) {
    if (!Synchronize()) return nullptr;
    staged_ = 0;
    if (bytes > stage_bytes_) {
      stage_.Reset();
      stage_bytes_ = std::max(bytes, kLeastStageBytes);
      void* memory = nullptr;
      if (!Keep(api().cuMemHostAlloc(&memory, static_cast<size_t>(stage_bytes_), 0),
                "allocate page-locked memory")) {
        return nullptr;
      }
      stage_ = PinnedBlock(api(), memory);
    }
  }
  std::byte* const place = static_cast<std::byte*>(stage_.get()) + staged_;
  staged_ += (bytes + 63) / 64 * 64;
  return place;
}

void VerifierDevice::ToDevice(CUdeviceptr to, const void* from, int64_t bytes) {
  ToDevice(to, bytes,
           [&](std::byte* stage) { std::memcpy(stage, from, static_cast<size_t>(bytes)); });
}

void VerifierDevice::ToDevice(CUdeviceptr to, int64_t bytes,
                              const std::function<void(std::byte*)>& write) {
  if (bytes == 0) return;
  std::byte* const stage = Stage(bytes);
  if (stage == nullptr) return;
  write(stage);
  Keep(api().cuMemcpyHtoDAsync(to, stage, static_cast<size_t>(bytes), stream()),
       "copy to the device");
}

const std::byte* VerifierDevice::FromDevice(CUdeviceptr from, int64_t bytes) {
  std::byte* const stage = Stage(bytes);
  if (stage == nullptr) return nullptr;
  Keep(api().cuMemcpyDtoHAsync(stage, from, static_cast<size_t>(bytes), stream()),
       "copy from the device");
  return Synchronize() ? stage : nullptr;
}

void VerifierDevice::CopyWithin(CUdeviceptr to, CUdeviceptr from, int64_t bytes) {
  if (bytes == 0 || !health_.ok()) return;
  Keep(api().cuMemcpyDtoDAsync(to, from, static_cast<size_t>(bytes), stream()),
       "copy within the device");
}

bool VerifierDevice::IsSame(CUdeviceptr one, CUdeviceptr other, int64_t bytes) {
  // Compared like integers without a tolerance, four bytes at a time if possible.
  constexpr int64_t kWordBytes = sizeof(int32_t);
  const int64_t words = bytes / kWordBytes;
  const int64_t rest = bytes - words * kWordBytes;
  const auto tail = static_cast<CUdeviceptr>(words * kWordBytes);
  int64_t wrong = 0;
  if (words > 0) {
    wrong += Compare(v1::DTYPE_INT32, one, other, words, v1::Tolerance(), v1::SuiteRule()).wrong;
  }
  if (rest > 0) {
    wrong +=
        Compare(v1::DTYPE_INT8, one + tail, other + tail, rest, v1::Tolerance(), v1::SuiteRule())
            .wrong;
  }
  return wrong == 0 && health_.ok();
}

CUdeviceptr VerifierDevice::FreshFindings(int64_t count) {
  if (!health_.ok()) return 0;
  const size_t bytes = static_cast<size_t>(count) * sizeof(uint64_t);
  if (count > findings_count_) {
    findings_.Reset();
    findings_count_ = std::max(count, kLeastFindings);
    CUdeviceptr memory = 0;
    if (!Keep(api().cuMemAlloc(&memory, static_cast<size_t>(findings_count_) * sizeof(uint64_t)),
              "allocate room for findings")) {
      return 0;
    }
    findings_ = CudaBlock(api(), memory);
  }
  Keep(api().cuMemsetD8Async(findings_.get(), 0xFF, bytes, stream()), "clear findings");
  return findings_.get();
}

TensorComparison VerifierDevice::Compare(v1::DType dtype, CUdeviceptr got, CUdeviceptr oracle,
                                         int64_t elements, const v1::Tolerance& tolerance,
                                         const v1::SuiteRule& suite_rule) {
  TensorComparison result;
  device::Kind kind = DeviceKind(dtype);
  double atol = tolerance.atol(), rtol = tolerance.rtol();
  int sum_of_bounds = tolerance.sum_of_bounds() ? 1 : 0;
  device::ElementRule suite = ElementRuleOf(suite_rule, dtype);
  CUdeviceptr partials = partials_.get();
  const int64_t blocks = std::clamp<int64_t>((elements + device::kThreads - 1) / device::kThreads,
                                             1, std::min(MaxBlocks(), kMaxCompareBlocks));
  // As many chunks as fill this many blocks.
  Launch(Kernel::kCompare, blocks * device::kThreads, 1,
         {&kind, &got, &oracle, &elements, &atol, &rtol, &sum_of_bounds, &suite, &partials});
  const std::byte* found =
      FromDevice(partials, blocks * static_cast<int64_t>(sizeof(device::PartialComparison)));
  if (found == nullptr) return result;
  int64_t first = INT64_MAX;
  for (int64_t block = 0; block < blocks; ++block) {
    device::PartialComparison part;
    std::memcpy(&part, found + block * static_cast<int64_t>(sizeof part), sizeof part);
    result.max_abs = std::max(result.max_abs, part.max_abs);
    result.max_rel = std::max(result.max_rel, part.max_rel);
    result.error_squares += part.error_squares;
    result.oracle_squares += part.oracle_squares;
    result.wrong += part.wrong;
    result.non_finite += part.non_finite;
    result.wrong_non_finite += part.wrong_non_finite;
    result.wrong_by_suite += part.wrong_by_suite;
    if (part.first_wrong < first) {
      first = part.first_wrong;
      result.first_wrong = first;
      result.first_got = part.first_got;
      result.first_expected = part.first_expected;
    }
  }
  return result;
}

void VerifierDevice::ClearCache() {
  if (!health_.ok()) return;
  // Not every device has such lines; then there is nothing to take away.
  api().cuCtxResetPersistingL2Cache();
  if (sweep_half_ == 0) return;
  CUdeviceptr from = sweep_.get(), to = sweep_.get() + static_cast<CUdeviceptr>(sweep_half_);
  int64_t chunks = Chunks(sweep_half_);
  Launch(Kernel::kCopy, chunks, 1, {&to, &from, &chunks});
}

absl::StatusOr<double> VerifierDevice::MeasureCopyBandwidth() {
  ASSIGN_OR_RETURN(const CudaBlock memory, AllocateCudaBlock(api(), 2 * kBandwidthBytes));
  ASSIGN_OR_RETURN(const CudaEvent begin, MakeCudaEvent(api()));
  ASSIGN_OR_RETURN(const CudaEvent end, MakeCudaEvent(api()));
  RETURN_IF_CUDA_ERROR(
      api(),
      api().cuMemsetD32(memory.get(), 0x3F8CCCCDu, static_cast<size_t>(2 * kBandwidthBytes / 4)),
      "fill device memory");
  CUdeviceptr from = memory.get(), to = memory.get() + static_cast<CUdeviceptr>(kBandwidthBytes);
  int64_t chunks = Chunks(kBandwidthBytes);
  double best = 0;
  for (int i = 0; i < kBandwidthCopies; ++i) {
    RETURN_IF_CUDA_ERROR(api(), api().cuEventRecord(begin.get(), stream()), "record an event");
    Launch(Kernel::kCopy, chunks, 1, {&to, &from, &chunks});
    RETURN_IF_CUDA_ERROR(api(), api().cuEventRecord(end.get(), stream()), "record an event");
    if (!Synchronize()) return health_;
    float milliseconds = 0;
    RETURN_IF_CUDA_ERROR(api(), api().cuEventElapsedTime(&milliseconds, begin.get(), end.get()),
                         "read an event");
    best = std::max(best, 2.0 * kBandwidthBytes / (static_cast<double>(milliseconds) * 1e-3));
  }
  return best;
}

}  // namespace ksearch

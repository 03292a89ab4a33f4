#include "gpu_worker/cuda/separators.h"

#include <algorithm>
#include <atomic>

#include "common/status_macros.h"
#include "gpu_worker/cuda/cuda_error.h"

// separator.cu, compiled.
extern "C" const unsigned long long ksearch_separator_image[];

namespace ksearch {
namespace {

// Queueing a call of some launches takes 10 to 100 us.
constexpr unsigned long long kLimitNanos = 5'000'000;
constexpr int64_t kWord = sizeof(unsigned long long);

}  // namespace

absl::StatusOr<Separators> Separators::Create(const CudaDevice& device) {
  const DriverApi& api = device.api();
  ASSIGN_OR_RETURN(CudaModule module, LoadCudaModule(api, ksearch_separator_image));
  ASSIGN_OR_RETURN(CudaBlock memory, AllocateCudaBlock(api, (1 + kMaxStamps) * kWord));
  ASSIGN_OR_RETURN(PinnedBlock flags, AllocatePinnedBlock(api, 2 * sizeof(unsigned int)));
  Separators made(device, std::move(module), std::move(memory), std::move(flags));
  RETURN_IF_CUDA_ERROR(
      api, api.cuMemsetD8(made.memory_.get(), 0, static_cast<size_t>((1 + kMaxStamps) * kWord)),
      "clear device memory");
  RETURN_IF_CUDA_ERROR(api,
                       api.cuMemHostGetDevicePointer(&made.device_flags_, made.flags_.get(), 0),
                       "map page-locked memory");
  ASSIGN_OR_RETURN(made.separator_, FindCudaFunction(api, made.module_, "ksearch_separator"));
  ASSIGN_OR_RETURN(made.nothing_, FindCudaFunction(api, made.module_, "ksearch_nothing"));
  int shared_bytes = 0, cooperative = 0;
  RETURN_IF_CUDA_ERROR(
      api,
      api.cuDeviceGetAttribute(&shared_bytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                               device.handle()),
      "ask for the size of shared memory");
  RETURN_IF_CUDA_ERROR(api,
                       api.cuDeviceGetAttribute(
                           &cooperative, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, device.handle()),
                       "ask for cooperative launches");
  if (cooperative == 0) {
    return absl::FailedPreconditionError("the GPU has no cooperative launches; use a newer one");
  }
  // Together with the device's own part per block, this is all shared memory of a multiprocessor.
  RETURN_IF_CUDA_ERROR(
      api,
      api.cuFuncSetAttribute(made.separator_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             shared_bytes),
      "give a kernel all shared memory");
  made.shared_bytes_ = static_cast<unsigned int>(shared_bytes);
  made.blocks_ = static_cast<unsigned int>(device.multiprocessors());
  return made;
}

void Separators::Fill(int stamp, const StampSeal& seal, bool hold, Arguments* arguments) const {
  arguments->arrivals = memory_.get();
  arguments->stamp = memory_.get() + static_cast<CUdeviceptr>((1 + stamp) * kWord);
  arguments->factor = seal.factor;
  arguments->offset = seal.offset;
  arguments->release = hold ? device_flags_ : 0;
  arguments->limit_ns = kLimitNanos;
  arguments->expired = device_flags_ + sizeof(unsigned int);
  arguments->pointers[0] = &arguments->arrivals;
  arguments->pointers[1] = &arguments->stamp;
  arguments->pointers[2] = &arguments->factor;
  arguments->pointers[3] = &arguments->offset;
  arguments->pointers[4] = &arguments->release;
  arguments->pointers[5] = &arguments->limit_ns;
  arguments->pointers[6] = &arguments->expired;
}

CUresult Separators::LaunchOne(CUstream stream, int stamp, bool hold) const {
  Arguments arguments;
  Fill(stamp, seals_[static_cast<size_t>(stamp)], hold, &arguments);
  // Cooperative: all blocks or none, so two such grids cannot each wait for the other's half.
  return device_->api().cuLaunchCooperativeKernel(separator_, blocks_, 1, 1, 1, 1, 1, shared_bytes_,
                                                  stream, arguments.pointers);
}

void Separators::RenewSeals(int count) {
  const std::vector<StampSeal> drawn = DrawStampSeals(count);
  std::copy(drawn.begin(), drawn.end(), seals_.begin());
}

CUresult Separators::Launch(CUstream stream, int stamp) const {
  return LaunchOne(stream, stamp, false);
}

CUresult Separators::Hold(CUstream stream, int stamp) {
  *flag(0) = 0;
  *flag(1) = 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return LaunchOne(stream, stamp, true);
}

bool Separators::Release() {
  const bool held = *flag(1) == 0;
  *flag(0) = 1;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return held;
}

CUresult Separators::AddTo(CUgraph graph, const CUgraphNode* after, int stamp,
                           const StampSeal& seal, CUgraphNode* node) const {
  Arguments arguments;
  Fill(stamp, seal, false, &arguments);
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.func = separator_;
  params.gridDimX = blocks_;
  params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.sharedMemBytes = shared_bytes_;
  params.kernelParams = arguments.pointers;
  const DriverApi& api = device_->api();
  const CUresult added =
      api.cuGraphAddKernelNode(node, graph, after, after == nullptr ? 0 : 1, &params);
  if (added != CUDA_SUCCESS) return added;
  CUlaunchAttributeValue cooperative = {};
  cooperative.cooperative = 1;
  return api.cuGraphKernelNodeSetAttribute(*node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &cooperative);
}

CUresult Separators::LaunchNothing(CUstream stream) const {
  return device_->api().cuLaunchKernel(nothing_, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
}

CUresult Separators::AddNothingTo(CUgraph graph) const {
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.func = nothing_;
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  CUgraphNode node = nullptr;
  return device_->api().cuGraphAddKernelNode(&node, graph, nullptr, 0, &params);
}

CUresult Separators::ReadStamps(int count, std::vector<uint64_t>* stamps) const {
  return ReadStamps({seals_.begin(), seals_.begin() + count}, stamps);
}

CUresult Separators::ReadStamps(const std::vector<StampSeal>& seals,
                                std::vector<uint64_t>* stamps) const {
  stamps->resize(seals.size());
  const CUresult read =
      device_->api().cuMemcpyDtoH(stamps->data(), memory_.get() + static_cast<CUdeviceptr>(kWord),
                                  stamps->size() * sizeof(uint64_t));
  for (size_t i = 0; i < seals.size(); ++i) (*stamps)[i] = seals[i].Open((*stamps)[i]);
  return read;
}

}  // namespace ksearch

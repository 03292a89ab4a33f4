#include "gpu_worker/verifier/cuda/host_copies.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/status_macros.h"
#include "gpu_worker/cuda/cuda_error.h"

namespace ksearch {
namespace {

// Large enough that the driver leaves them to the engines.
constexpr int64_t kBytes = int64_t{256} << 10;

}  // namespace

HostCopies::HostCopies(std::shared_ptr<const CudaDevice> device, CudaStream stream, CudaBlock there,
                       PinnedBlock here)
    : device_(std::move(device)),
      stream_(std::move(stream)),
      there_(std::move(there)),
      here_(std::move(here)) {}

absl::StatusOr<HostCopies> HostCopies::Create(std::shared_ptr<const CudaDevice> device) {
  const DriverApi& api = device->api();
  ASSIGN_OR_RETURN(CudaStream stream, MakeCudaStream(api));
  ASSIGN_OR_RETURN(CudaBlock there, AllocateCudaBlock(api, kBytes));
  ASSIGN_OR_RETURN(PinnedBlock here, AllocatePinnedBlock(api, kBytes));
  return HostCopies(std::move(device), std::move(stream), std::move(there), std::move(here));
}

absl::StatusOr<absl::Duration> HostCopies::Time(const Clock& clock) const {
  const DriverApi& api = device_->api();
  const absl::Duration waited = delay_.Read().waiting;
  const absl::Time start = clock.SteadyNow();
  RETURN_IF_CUDA_ERROR(api, api.cuMemcpyHtoDAsync(there_.get(), here_.get(), kBytes, stream_.get()),
                       "copy to the device");
  RETURN_IF_CUDA_ERROR(api, api.cuMemcpyDtoHAsync(here_.get(), there_.get(), kBytes, stream_.get()),
                       "copy from the device");
  RETURN_IF_CUDA_ERROR(api, api.cuStreamSynchronize(stream_.get()), "wait for a copy");
  const absl::Duration took = clock.SteadyNow() - start;
  return std::max(absl::ZeroDuration(), took - (delay_.Read().waiting - waited));
}

}  // namespace ksearch

#include "gpu_worker/verifier/timing/block_timer.h"

#include "gpu_worker/verifier/timing/device/device_block_timer.h"
#include "gpu_worker/verifier/timing/host_block_timer.h"

namespace ksearch {

std::unique_ptr<BlockTimer> MakeBlockTimer(Bench& bench, const v1::MeasurePlan& plan,
                                           const WorkloadSession::Limits& limits) {
  if (bench.gpu() != nullptr) return std::make_unique<DeviceBlockTimer>(bench, plan, limits);
  return std::make_unique<HostBlockTimer>(bench, plan, limits);
}

}  // namespace ksearch

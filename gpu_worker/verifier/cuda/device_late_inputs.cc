#include "gpu_worker/verifier/cuda/device_late_inputs.h"

namespace ksearch {

std::unique_ptr<LateInputs> DeviceLateInputs::Withhold(std::shared_ptr<VerifierDevice> device,
                                                       const WorkloadCase& workload,
                                                       const std::vector<CUdeviceptr>& addresses,
                                                       Rng* rng) {
  std::vector<Part> parts;
  for (const LatePart& late : DrawLateParts(workload, rng)) {
    Part part;
    const CUdeviceptr base = addresses[late.tensor];
    part.place = base + static_cast<CUdeviceptr>(late.at);
    const std::byte* const there = device->FromDevice(part.place, late.bytes);
    if (there == nullptr) return nullptr;
    part.bytes.assign(there, there + late.bytes);
    const std::byte* const other =
        device->FromDevice(base + static_cast<CUdeviceptr>(late.stand_in), late.bytes);
    if (other == nullptr) return nullptr;
    const std::vector<std::byte> stand_in(other, other + late.bytes);
    device->ToDevice(part.place, stand_in.data(), late.bytes);
    parts.push_back(std::move(part));
  }
  if (parts.empty() || !device->Synchronize()) return nullptr;
  return std::unique_ptr<LateInputs>(new DeviceLateInputs(std::move(device), std::move(parts)));
}

void DeviceLateInputs::Deliver() {
  for (const Part& part : parts_) {
    device_->ToDevice(part.place, part.bytes.data(), static_cast<int64_t>(part.bytes.size()));
  }
  device_->Synchronize();
}

}  // namespace ksearch

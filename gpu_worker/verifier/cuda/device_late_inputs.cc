#include "gpu_worker/verifier/cuda/device_late_inputs.h"

#include <algorithm>

namespace ksearch {

std::unique_ptr<LateInputs> DeviceLateInputs::Withhold(
    std::shared_ptr<VerifierDevice> device, const WorkloadCase& workload,
    const std::function<CUdeviceptr(size_t)>& address, Rng* rng) {
  std::vector<Part> parts;
  for (const LatePart& late : DrawLateParts(workload, rng)) {
    const CUdeviceptr begin = address(late.tensor);
    const int64_t bytes = std::min(late.bytes, kMostPartBytes);
    Part part;
    part.place = begin + static_cast<CUdeviceptr>(late.at);
    const std::byte* copied = device->FromDevice(part.place, bytes);
    if (copied == nullptr) return nullptr;
    part.bytes.assign(copied, copied + bytes);
    copied = device->FromDevice(begin + static_cast<CUdeviceptr>(late.stand_in), bytes);
    if (copied == nullptr) return nullptr;
    const std::vector<std::byte> stand_in(copied, copied + bytes);
    device->ToDevice(part.place, stand_in.data(), bytes);
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

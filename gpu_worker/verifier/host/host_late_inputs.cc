#include "gpu_worker/verifier/host/host_late_inputs.h"

#include <atomic>
#include <cstring>

namespace ksearch {

std::unique_ptr<LateInputs> HostLateInputs::Withhold(const WorkloadCase& workload,
                                                     const std::vector<std::byte*>& memory,
                                                     Rng* rng) {
  std::vector<Part> parts;
  for (const LatePart& late : DrawLateParts(workload, rng)) {
    Part part;
    part.place = memory[late.tensor] + late.at;
    part.bytes.assign(part.place, part.place + late.bytes);
    std::memcpy(part.place, memory[late.tensor] + late.stand_in, part.bytes.size());
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return nullptr;
  return std::unique_ptr<LateInputs>(new HostLateInputs(std::move(parts)));
}

void HostLateInputs::Deliver() {
  for (const Part& part : parts_) std::memcpy(part.place, part.bytes.data(), part.bytes.size());
  // Orders the writes before the caller's next reads.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace ksearch

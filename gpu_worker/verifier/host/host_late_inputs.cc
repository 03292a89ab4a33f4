#include "gpu_worker/verifier/host/host_late_inputs.h"

#include <atomic>
#include <cstring>

namespace ksearch {
namespace {

// Delivering them takes some 10 us at most. Longer calls gain little by working ahead.
constexpr int64_t kMostMadeBytes = int64_t{256} << 10;
// Neither calls nor decoys have so many before them.
constexpr int64_t kFirstStandIn = int64_t{1} << 40;
constexpr uint64_t kStandIns = uint64_t{1} << 20;

}  // namespace

std::vector<HostLateInputs::Part> HostLateInputs::WithholdMade(
    const WorkloadCase& workload, const std::vector<std::byte*>& memory, Rng* rng) {
  std::vector<size_t> made;
  int64_t bytes = 0;
  for (int t = 0; t < workload.inputs(); ++t) {
    if (!workload.generator(t).made() || workload.generator(t).repeats()) continue;
    made.push_back(static_cast<size_t>(t));
    bytes += workload.tensors()[made.back()].bytes;
  }
  std::vector<Part> parts;
  if (bytes > kMostMadeBytes) return parts;
  const int64_t variant = kFirstStandIn + static_cast<int64_t>(rng->NextBelow(kStandIns));
  for (const size_t t : made) {
    Part part;
    part.place = memory[t];
    part.bytes.assign(part.place, part.place + workload.tensors()[t].bytes);
    workload.generator(static_cast<int>(t)).Write(variant, part.place);
    parts.push_back(std::move(part));
  }
  return parts;
}

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
  if (parts.empty()) parts = WithholdMade(workload, memory, rng);
  if (parts.empty()) return nullptr;
  return std::unique_ptr<LateInputs>(new HostLateInputs(std::move(parts)));
}

std::unique_ptr<LateInputs> HostLateInputs::WithholdAll(const WorkloadCase& workload,
                                                        const std::vector<std::byte*>& memory,
                                                        const std::vector<std::byte*>& stand_ins) {
  std::vector<Part> parts;
  for (size_t t = 0; t < memory.size(); ++t) {
    if (workload.generator(static_cast<int>(t)).repeats()) continue;
    Part part;
    part.place = memory[t];
    part.bytes.assign(part.place, part.place + workload.tensors()[t].bytes);
    std::memcpy(part.place, stand_ins[t], part.bytes.size());
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

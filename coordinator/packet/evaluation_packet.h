#ifndef KSEARCH_COORDINATOR_PACKET_EVALUATION_PACKET_H_
#define KSEARCH_COORDINATOR_PACKET_EVALUATION_PACKET_H_

#include <cstddef>
#include <string>

#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Few on purpose: models that were given every metric of a profiler made slower kernels than those
// that were given a chosen few (CudaForge, arXiv 2511.01884).
inline constexpr int kMaxPacketLines = 40;
inline constexpr size_t kMaxPacketBytes = 6 << 10;

// The inputs of one candidate's evaluation summary. Borrows everything.
struct PacketFacts {
  const v1::JobResult* result = nullptr;  // a screening, with `profile` if there is one
  // Screening of the program that the candidate was built from; null if unknown.
  const v1::JobResult* parent = nullptr;
  const v1::Task* task = nullptr;  // for the work of a call and the held-out workloads; may be null
};

// Summarizes for models and people how a GPU candidate runs and what limits it: its distance from
// the floor; for each important kernel, launch, occupancy, speed of light, stalls, memory traffic
// and instructions; the compiler's warnings; and the changes since the parent. At most
// kMaxPacketLines lines and kMaxPacketBytes bytes of printable ASCII for any input; kernel names
// come from the candidate and are untrusted. Held-out workloads are omitted. Empty if nothing is
// known: a program for processors, or one that did not build. A pure function.
std::string EvaluationPacket(const PacketFacts& facts);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PACKET_EVALUATION_PACKET_H_

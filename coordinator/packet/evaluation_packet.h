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

// What is known of one candidate. Borrows.
struct PacketFacts {
  const v1::JobResult* result = nullptr;  // a screening; with `profile` if there is one
  // The screening of the program it was built from; null: unknown.
  const v1::JobResult* parent = nullptr;
  const v1::Task* task = nullptr;  // for the work of a call, and what is held out; may be null
};

// How a GPU candidate runs and what holds it back, for models and people: its distance from the
// floor, then for each of the kernels that matter launch, occupancy, speed of light, stalls, memory
// traffic and instructions, the compiler's warnings, and what has moved since the parent. At most
// kMaxPacketLines lines and kMaxPacketBytes bytes of printable ASCII whatever the input; names in
// it are the candidate's own words. Held-out workloads are left out. Empty if nothing is known: a
// program for processors, or one that did not build. A pure function.
std::string EvaluationPacket(const PacketFacts& facts);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PACKET_EVALUATION_PACKET_H_

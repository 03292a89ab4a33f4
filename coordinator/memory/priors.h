#ifndef KSEARCH_COORDINATOR_MEMORY_PRIORS_H_
#define KSEARCH_COORDINATOR_MEMORY_PRIORS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/memory.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

inline constexpr int kMostPriors = 64;
// A change counts as faster from here on: less is within the noise of screenings.
inline constexpr double kFaster = 1.02;

// What gains say together. The same program of a task, measured on the same architecture, counts
// once: of several the first in `gains`. Changes without an intent of the vocabulary count
// together: the others are compared with them. `op_type`: whose gains are `same_op_type`.
// Those of the same op_type come first, then those tried most often; at most kMostPriors.
v1::MemorySnapshot SnapshotOf(const std::vector<v1::MeasuredGain>& gains,
                              const std::string& op_type, absl::Time now);

// The same for people, by op_type, architecture and language.
std::vector<v1::MemoryGroup> GroupsOf(const std::vector<v1::MeasuredGain>& gains);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_MEMORY_PRIORS_H_

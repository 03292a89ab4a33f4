#ifndef KSEARCH_COORDINATOR_MEMORY_PRIORS_H_
#define KSEARCH_COORDINATOR_MEMORY_PRIORS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/memory.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

inline constexpr int kMostPriors = 64;
// A change counts as faster from this ratio on: less is within the noise of screenings.
inline constexpr double kFaster = 1.02;

// Summarizes gains. The same program of a task, measured on the same architecture, counts once: the
// first in `gains`. Changes without a known intent form one group, which the others are compared
// with. `op_type` selects the gains of `same_op_type`. Groups of that op_type come first, then the
// most frequently tried; at most kMostPriors.
v1::MemorySnapshot SnapshotOf(const std::vector<v1::MeasuredGain>& gains,
                              const std::string& op_type, absl::Time now);

// The same for display, grouped by op_type, architecture and language.
std::vector<v1::MemoryGroup> GroupsOf(const std::vector<v1::MeasuredGain>& gains);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_MEMORY_PRIORS_H_

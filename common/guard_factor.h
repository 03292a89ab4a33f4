#ifndef KSEARCH_COMMON_GUARD_FACTOR_H_
#define KSEARCH_COMMON_GUARD_FACTOR_H_

#include <optional>

#include "proto/task.pb.h"

namespace ksearch {

// The default of Objective.guard_factor.
inline constexpr double kDefaultGuardFactor = 2;

// Returns the factor by which a workload that only guards may be slower than a rival; nullopt if
// the workload is ranked.
inline std::optional<double> GuardFactorOf(const v1::Objective& objective, bool held_out) {
  if (objective.ranked() != v1::Objective::RANKED_OFFICIAL || !held_out) return std::nullopt;
  return objective.guard_factor() == 0 ? kDefaultGuardFactor : objective.guard_factor();
}

}  // namespace ksearch

#endif  // KSEARCH_COMMON_GUARD_FACTOR_H_

#ifndef KSEARCH_COMMON_GUARD_FACTOR_H_
#define KSEARCH_COMMON_GUARD_FACTOR_H_

#include <optional>

#include "proto/task.pb.h"

namespace ksearch {

// The default of Objective.guard_factor.
inline constexpr double kDefaultGuardFactor = 2;

// How many times slower than a rival a workload of a task may be that only guards; absent: it is
// ranked.
inline std::optional<double> GuardFactorOf(const v1::Objective& objective, bool held_out) {
  if (objective.ranked() != v1::Objective::RANKED_OFFICIAL || !held_out) return std::nullopt;
  return objective.guard_factor() == 0 ? kDefaultGuardFactor : objective.guard_factor();
}

}  // namespace ksearch

#endif  // KSEARCH_COMMON_GUARD_FACTOR_H_

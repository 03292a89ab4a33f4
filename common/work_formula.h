#ifndef KSEARCH_COMMON_WORK_FORMULA_H_
#define KSEARCH_COMMON_WORK_FORMULA_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// The value of an expression of v1::WorkFormula: axis names, integers, + - * / and parentheses,
// computed in double. INVALID_ARGUMENT "column <n>: what" on bad syntax, an unknown axis, a
// division by zero, or more than 32 levels of parentheses.
absl::StatusOr<double> EvaluateWorkFormula(
    absl::string_view formula, const absl::flat_hash_map<std::string, int64_t>& axis_values);

// Evaluates the formula with the workload's axes. Returns 0 without a formula, and where the
// formula has no positive value.
double WorkOf(const std::string& formula, const v1::Workload& workload);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_WORK_FORMULA_H_

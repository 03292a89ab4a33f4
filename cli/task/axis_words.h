#ifndef KSEARCH_CLI_TASK_AXIS_WORDS_H_
#define KSEARCH_CLI_TASK_AXIS_WORDS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// The maximum number of workloads in a request.
inline constexpr size_t kMostShapes = 32;
// The maximum number of axes of a workload.
inline constexpr size_t kMostAxes = 32;

// The axes of one workload, with their values.
using AxisValues = std::vector<std::pair<std::string, int64_t>>;

// Parses the arguments of --shapes: each "n=1024,4096,d=64" stands for one workload per combination
// of its values; the first axis varies slowest. Every workload has the axes of the first argument,
// in its order. INVALID_ARGUMENT quotes the argument: no axes, an axis without a value or repeated,
// a value other than a whole number from 1 to 2^31, a name that IsIdentifier (common/names.h)
// refuses, other axes than the first argument's, too many axes or workloads.
absl::StatusOr<std::vector<AxisValues>> ParseShapes(const std::vector<std::string>& arguments);

// "n=1024,d=64".
std::string ShapeText(const AxisValues& axes);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_AXIS_WORDS_H_

#ifndef KSEARCH_COMMON_ARGUMENTS_H_
#define KSEARCH_COMMON_ARGUMENTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace ksearch {

// Splits "--name value" and "--name=value" into (name, value), in order; names keep their dashes.
// INVALID_ARGUMENT names an argument without a value. For daemons, whose few arguments all have
// one.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> SplitArguments(
    const std::vector<std::string>& args);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_ARGUMENTS_H_

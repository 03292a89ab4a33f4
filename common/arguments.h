#ifndef KSEARCH_COMMON_ARGUMENTS_H_
#define KSEARCH_COMMON_ARGUMENTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// The command line is wrong, by itself: INVALID_ARGUMENT; a payload tells it from a faulty file.
absl::Status UsageError(absl::string_view message);
bool IsUsageError(const absl::Status& status);

// Exit code of a daemon that cannot start, as for the command line (docs/cli.md): 2 for a usage
// error, otherwise 3.
int ExitCodeOfBadStart(const absl::Status& status);

// Splits "--name value" and "--name=value" into (name, value), in order; names keep their dashes.
// UsageError names an argument without a value. For daemons, whose few arguments all have
// one.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> SplitArguments(
    const std::vector<std::string>& args);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_ARGUMENTS_H_

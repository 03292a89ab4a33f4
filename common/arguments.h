#ifndef KSEARCH_COMMON_ARGUMENTS_H_
#define KSEARCH_COMMON_ARGUMENTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// Makes the INVALID_ARGUMENT error for a wrong command line. A payload distinguishes it from errors
// in files that the command line names.
absl::Status UsageError(absl::string_view message);
bool IsUsageError(const absl::Status& status);

// Exit code of a daemon that cannot start, as for the command line (docs/cli.md): 2 for a usage
// error, otherwise 3.
int ExitCodeOfBadStart(const absl::Status& status);

// Splits "--name value" and "--name=value" into (name, value), in order; names keep their dashes.
// Returns a UsageError that names the argument if one has no value. For daemons, all of whose
// arguments have values.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> SplitArguments(
    const std::vector<std::string>& args);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_ARGUMENTS_H_

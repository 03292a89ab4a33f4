#ifndef KSEARCH_COORDINATOR_TASKS_NEAR_NAMES_H_
#define KSEARCH_COORDINATOR_TASKS_NEAR_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// Returns at most five of `names`, the most similar to `wanted` first, without duplicates.
std::vector<std::string> NearNames(const std::string& wanted,
                                   const std::vector<std::string>& names);

// NOT_FOUND: `folder` has no `kind` (e.g. "problem") named `wanted`, but these `names`.
absl::Status NotAmong(absl::string_view kind, const std::string& wanted, absl::string_view folder,
                      const std::vector<std::string>& names);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_NEAR_NAMES_H_

#ifndef KSEARCH_COORDINATOR_TASKS_NEAR_NAMES_H_
#define KSEARCH_COORDINATOR_TASKS_NEAR_NAMES_H_

#include <string>
#include <vector>

namespace ksearch {

// Returns at most five of `names`, the most similar to `wanted` first, without duplicates.
std::vector<std::string> NearNames(const std::string& wanted,
                                   const std::vector<std::string>& names);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_NEAR_NAMES_H_

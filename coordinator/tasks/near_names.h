#ifndef KSEARCH_COORDINATOR_TASKS_NEAR_NAMES_H_
#define KSEARCH_COORDINATOR_TASKS_NEAR_NAMES_H_

#include <string>
#include <vector>

namespace ksearch {

// At most five of `names`, those most like `wanted` first, none twice.
std::vector<std::string> NearNames(const std::string& wanted,
                                   const std::vector<std::string>& names);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_NEAR_NAMES_H_

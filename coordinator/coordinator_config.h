#ifndef KSEARCH_COORDINATOR_COORDINATOR_CONFIG_H_
#define KSEARCH_COORDINATOR_COORDINATOR_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"

namespace ksearch {

// The command line of ksearch-coordinator over its config file over the defaults of config.proto.
//   --config FILE --listen ADDR --state-dir DIR --task-dir DIR (repeatable)
// INVALID_ARGUMENT lists every fault, each with its argument or file:line:column.
absl::StatusOr<v1::CoordinatorConfig> LoadCoordinatorConfig(const std::vector<std::string>& args);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_COORDINATOR_CONFIG_H_

#ifndef KSEARCH_COORDINATOR_COORDINATOR_CONFIG_H_
#define KSEARCH_COORDINATOR_COORDINATOR_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"

namespace ksearch {

// The command line of ksearch-coordinator over its config file over the defaults of config.proto.
//   --config FILE --listen ADDR --state-dir DIR --task-dir DIR (repeatable) --backup FILE
// `*backup` is set to the last argument's value, else to "".
// INVALID_ARGUMENT lists every fault, each with its argument or file:line:column.
absl::StatusOr<v1::CoordinatorConfig> LoadCoordinatorConfig(const std::vector<std::string>& args,
                                                            std::string* backup);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_COORDINATOR_CONFIG_H_

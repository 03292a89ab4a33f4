#ifndef KSEARCH_AUTOSCALER_AUTOSCALER_CONFIG_H_
#define KSEARCH_AUTOSCALER_AUTOSCALER_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/access/client_access.h"
#include "proto/autoscaler.pb.h"

namespace ksearch {

// The command line of ksearch-autoscaler over its config file, with the defaults of
// autoscaler.proto filled in.
//   --config FILE (required) --coordinator ADDR --token-file FILE --state-file FILE
// INVALID_ARGUMENT lists every fault, one a line, each with its argument, field or
// file:line:column.
absl::StatusOr<v1::AutoscalerConfig> LoadAutoscalerConfig(const std::vector<std::string>& args);

// Reads the token and certificates that the config names.
absl::StatusOr<ClientAccess> ReadAutoscalerAccess(const v1::AutoscalerConfig& config);

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_AUTOSCALER_CONFIG_H_

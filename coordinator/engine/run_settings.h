#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_SETTINGS_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_SETTINGS_H_

#include "absl/status/statusor.h"
#include "proto/config.pb.h"

namespace ksearch {

// `request` over `defaults` over the defaults documented in config.proto; every field is set
// afterwards except those that name other things (model, target_hardware, replay_order_of).
// INVALID_ARGUMENT lists every field that is out of range.
absl::StatusOr<v1::RunConfig> CompleteRunConfig(const v1::RunConfig& request,
                                                const v1::RunConfig& defaults);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_SETTINGS_H_

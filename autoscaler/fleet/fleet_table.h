#ifndef KSEARCH_AUTOSCALER_FLEET_FLEET_TABLE_H_
#define KSEARCH_AUTOSCALER_FLEET_FLEET_TABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "autoscaler/fleet/fleet_provider.h"
#include "proto/autoscaler.pb.h"

namespace ksearch {

// Makes the provider that the pool names. INVALID_ARGUMENT: its settings are wrong, or the pool
// names no provider; the message begins with the field. REQUIRES: the pool's defaults are filled
// in.
absl::StatusOr<std::unique_ptr<FleetProvider>> MakeFleetProvider(const v1::WorkerPool& pool);

// "command", "slurm", ...; "" if the pool names none.
std::string ProviderName(const v1::WorkerPool& pool);

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_FLEET_TABLE_H_

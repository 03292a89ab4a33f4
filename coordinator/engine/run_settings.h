#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_SETTINGS_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_SETTINGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "proto/job.pb.h"

namespace ksearch {

// The largest budget of a run.
inline constexpr int kMaxRounds = 1'000'000;

// `request` over `defaults` over the defaults documented in config.proto; every field is set
// afterwards except those that name other things (model, target_hardware, replay_order_of) and
// measure.launches, whose default is that of the task's device. `device` is the task's; where it is
// not known, the language's usual one counts.
// INVALID_ARGUMENT lists every field that is out of range.
absl::StatusOr<v1::RunConfig> CompleteRunConfig(
    const v1::RunConfig& request, const v1::RunConfig& defaults,
    v1::DeviceClass device = v1::DEVICE_CLASS_UNSPECIFIED);

// The same of `run_defaults` in a coordinator's config, which need name neither task nor provider.
// INVALID_ARGUMENT lists every field that no run could have.
absl::Status CheckRunDefaults(const v1::RunConfig& defaults,
                              const std::vector<std::string>& providers);

// INVALID_ARGUMENT lists every field of a complete plan and complete limits (WithDefaults) that is
// out of range.
absl::Status CheckMeasurement(const v1::MeasurePlan& plan, const v1::Limits& limits);

// INVALID_ARGUMENT: longer than any device's name, or not printable.
absl::Status CheckDeviceModel(const std::string& device_model);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_SETTINGS_H_

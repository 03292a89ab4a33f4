#ifndef KSEARCH_COORDINATOR_ENGINE_TRIAL_H_
#define KSEARCH_COORDINATOR_ENGINE_TRIAL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/config.pb.h"

namespace ksearch {

// The salt of every job of the run, so that a job is answered only with the run's own measurements.
// Empty if the run does not belong to an experiment.
std::string TrialSalt(const v1::RunConfig& config);

// OK for a run that does not belong to an experiment. INVALID_ARGUMENT names the field of
// RunConfig.trial that is wrong.
absl::Status CheckTrial(const v1::RunConfig& config);

// The id of a new run: the task's name and some hex digits. Random, except for a run of an
// experiment, where they are derived from `request_id`: repeating the experiment under its name
// gives the same ids.
std::string NewRunId(const v1::RunConfig& config, absl::string_view request_id);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_TRIAL_H_

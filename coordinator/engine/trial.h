#ifndef KSEARCH_COORDINATOR_ENGINE_TRIAL_H_
#define KSEARCH_COORDINATOR_ENGINE_TRIAL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/config.pb.h"

namespace ksearch {

// What every job of the run is salted with, so that it is answered only with what the run itself
// measured. Empty: the run is of no experiment.
std::string TrialSalt(const v1::RunConfig& config);

// OK for a run of no experiment. INVALID_ARGUMENT names the field of RunConfig.trial that is wrong.
absl::Status CheckTrial(const v1::RunConfig& config);

// The id of a new run: the task's name and some hex digits. Random, but for a run of an experiment,
// where they follow from `request_id`: repeating the experiment under its name finds the same ids.
std::string NewRunId(const v1::RunConfig& config, absl::string_view request_id);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_TRIAL_H_

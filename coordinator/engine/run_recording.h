#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_RECORDING_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_RECORDING_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/llm/replay/recording.h"
#include "coordinator/store/store.h"
#include "proto/recording.pb.h"

namespace ksearch {

// Writes the run as the lines of a cassette, in order, to `write`, which returns false to end it
// (CANCELLED then): the header, every answered call, and `with_results` every job that has a
// result. NOT_FOUND: no such run.
absl::Status RecordRun(Store* store, const std::string& run_id, bool with_results, absl::Time now,
                       const std::function<bool(const v1::RecordedLine&)>& write);

// Adds the recorded jobs and their results to the store if they are missing; equal jobs are then
// answered from there. INVALID_ARGUMENT: a job does not match its id.
absl::Status ImportResults(const Recording& recording, Store* store);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_RECORDING_H_

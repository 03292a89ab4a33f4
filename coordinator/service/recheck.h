#ifndef KSEARCH_COORDINATOR_SERVICE_RECHECK_H_
#define KSEARCH_COORDINATOR_SERVICE_RECHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// What was claimed of a candidate: the newest of its results that compares it with the baseline.
// NOT_FOUND: none does. FAILED_PRECONDITION: it did not call the candidate improved, so nothing is
// claimed. `candidate` names it in errors.
absl::StatusOr<v1::JobResult> ClaimIn(const std::vector<v1::JobResult>& results,
                                      const std::string& candidate);

// The job that repeats the confirmation `claimed_by`, against the baseline alone: salted, so that
// no result on record answers it; at `confidence`, since one more test needs no share of a run's
// error; not on `device_id` if another device can do it.
v1::JobSpec RecheckJob(v1::JobSpec claimed_by, double confidence, const std::string& salt,
                       const std::string& device_id);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_RECHECK_H_

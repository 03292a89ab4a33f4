#ifndef KSEARCH_COORDINATOR_SERVICE_RECHECK_H_
#define KSEARCH_COORDINATOR_SERVICE_RECHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// Returns the result behind a candidate's claim: the newest of its results that compares it with
// the baseline. NOT_FOUND: there is none. FAILED_PRECONDITION: that result did not find the
// candidate improved, so nothing is claimed. `candidate` is its name in errors.
absl::StatusOr<v1::JobResult> ClaimIn(const std::vector<v1::JobResult>& results,
                                      const std::string& candidate);

// Returns the job that repeats the confirmation `claimed_by` against the baseline alone. It has a
// salt, so that no existing result answers it; it uses `confidence` in full, because a single test
// needs no share of a run's error; and it avoids `device_id` if another device can run it.
v1::JobSpec RecheckJob(v1::JobSpec claimed_by, double confidence, const std::string& salt,
                       const std::string& device_id);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_RECHECK_H_

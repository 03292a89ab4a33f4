#ifndef KSEARCH_COORDINATOR_VIEWS_CANDIDATE_VIEW_H_
#define KSEARCH_COORDINATOR_VIEWS_CANDIDATE_VIEW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/store/store.h"

namespace ksearch {

// One candidate of a run with its results, the calls it came from and what is said of it to models.
// NOT_FOUND, INVALID_ARGUMENT: no such run or candidate, or several.
absl::StatusOr<v1::CandidateReply> ViewCandidate(Store& store,
                                                 const v1::GetCandidateRequest& request);

// The packet of a candidate, by its own results and those of its parent, in the order of the store;
// `task` may be null.
std::string CandidatePacket(const v1::Task* task, const std::vector<v1::JobResult>& results,
                            const std::vector<v1::JobResult>& parent);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_CANDIDATE_VIEW_H_

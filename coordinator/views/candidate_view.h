#ifndef KSEARCH_COORDINATOR_VIEWS_CANDIDATE_VIEW_H_
#define KSEARCH_COORDINATOR_VIEWS_CANDIDATE_VIEW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/store/store.h"

namespace ksearch {

// Returns one candidate of a run with its results, the calls that produced it, and the evaluation
// summary that models get about it. NOT_FOUND: no such run or candidate; INVALID_ARGUMENT: the
// prefix matches several.
absl::StatusOr<v1::CandidateReply> ViewCandidate(Store& store,
                                                 const v1::GetCandidateRequest& request);

// Returns the evaluation summary of a candidate from its own results and those of its parent, in
// the order of the store. `task` may be null.
std::string CandidatePacket(const v1::Task* task, const std::vector<v1::JobResult>& results,
                            const std::vector<v1::JobResult>& parent);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_VIEWS_CANDIDATE_VIEW_H_

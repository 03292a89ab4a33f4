#ifndef KSEARCH_COORDINATOR_STORE_PROPOSAL_ROWS_H_
#define KSEARCH_COORDINATOR_STORE_PROPOSAL_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/store/database.h"
#include "coordinator/store/store.h"

// Rows of what was proposed: calls to models and the candidates from their replies. Every function
// works inside the caller's transaction; contracts as in store.h.
namespace ksearch::proposal_rows {

// Counts its reservation in the ledger (OUT_OF_RANGE: does not fit). Idempotent for an equal
// prompt, but that a call which waits to be admitted is; FAILED_PRECONDITION if the id was used for
// another one.
absl::Status InsertCall(Database& database, const LlmCallRow& call, absl::Time now);
// The call is about to be sent. NOT_FOUND: no such call without an answer.
absl::Status RecordSend(Database& database, const std::string& call_id, absl::Time now);
// The reply to what was sent is lost. No effect on a call that is answered or was not sent.
absl::Status LoseCall(Database& database, const std::string& run_id, const std::string& call_id);
// Sets `run_id` to the run that got an arrival, or to "" if the reply was there before. NOT_FOUND:
// no such call.
absl::Status RecordReply(Database& database, const LlmCallRow& call, absl::Time now,
                         std::string* run_id);
absl::Status SaveProviderState(Database& database, const std::string& call_id,
                               const std::string& state);
absl::StatusOr<LlmCallRow> ReadCall(Database& database, const std::string& call_id);
absl::StatusOr<std::vector<LlmCallRow>> ReadUnansweredCalls(Database& database,
                                                            const std::string& run_id);

// The first proposal of a candidate within a run is kept.
absl::Status InsertCandidate(Database& database, const CandidateRow& candidate, absl::Time now);
absl::StatusOr<CandidateRow> ReadCandidate(Database& database, const std::string& run_id,
                                           const std::string& prefix);
absl::StatusOr<std::vector<CandidateRow>> ListCandidates(Database& database,
                                                         const std::string& run_id);

}  // namespace ksearch::proposal_rows

#endif  // KSEARCH_COORDINATOR_STORE_PROPOSAL_ROWS_H_

#ifndef KSEARCH_COORDINATOR_STORE_PROPOSAL_ROWS_H_
#define KSEARCH_COORDINATOR_STORE_PROPOSAL_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/store/database.h"
#include "coordinator/store/store.h"

// Rows of model calls and of the candidates from their replies. Every function works inside the
// caller's transaction; contracts as in store.h.
namespace ksearch::proposal_rows {

// Inserts a call and counts its reservation in the ledger (OUT_OF_RANGE: it exceeds a cap).
// Idempotent for an equal prompt, except that a call which waits for admission is admitted.
// FAILED_PRECONDITION: the id belongs to a call with another prompt.
absl::Status InsertCall(Database& database, const LlmCallRow& call, absl::Time now);
// Records that the call is about to be sent. NOT_FOUND: there is no such unanswered call.
absl::Status RecordSend(Database& database, const std::string& call_id, absl::Time now);
// Records that the reply to a sent call is lost. No effect on a call that has a reply or was not
// sent.
absl::Status LoseCall(Database& database, const std::string& run_id, const std::string& call_id);
// Records a reply. Sets `run_id` to the run that got an arrival, or to "" if the reply was recorded
// before. NOT_FOUND: no such call.
absl::Status RecordReply(Database& database, const LlmCallRow& call, absl::Time now,
                         std::string* run_id);
absl::Status SaveProviderState(Database& database, const std::string& call_id,
                               const std::string& state);
absl::StatusOr<LlmCallRow> ReadCall(Database& database, const std::string& call_id);
absl::StatusOr<std::vector<LlmCallRow>> ReadUnansweredCalls(Database& database,
                                                            const std::string& run_id);

// Inserts a candidate. The first proposal of a candidate within a run is kept.
absl::Status InsertCandidate(Database& database, const CandidateRow& candidate, absl::Time now);
absl::StatusOr<CandidateRow> ReadCandidate(Database& database, const std::string& run_id,
                                           const std::string& prefix);
absl::StatusOr<std::vector<CandidateRow>> ListCandidates(Database& database,
                                                         const std::string& run_id);

}  // namespace ksearch::proposal_rows

#endif  // KSEARCH_COORDINATOR_STORE_PROPOSAL_ROWS_H_

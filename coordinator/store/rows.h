#ifndef KSEARCH_COORDINATOR_STORE_ROWS_H_
#define KSEARCH_COORDINATOR_STORE_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/llm/llm_client.h"
#include "proto/config.pb.h"
#include "proto/job.pb.h"
#include "proto/memory.pb.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"
#include "proto/task.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// A call to a model. It is committed before it is sent, and its reply is committed before it is
// used.
struct LlmCallRow {
  std::string call_id;  // "<run_id>/<n>", n counted by the strategy
  std::string run_id;
  std::string purpose;
  std::string node_id;
  int attempt = 0;
  int cycle = 0;
  std::string role;  // "world_model" or "code"
  std::string provider;
  std::string model;
  std::string system;  // stable rules, sent before the prompt; may be empty
  std::string prompt;
  std::string dropped_parts;  // prompt parts that were shortened or dropped, one per line
  int max_output_tokens = 0;
  std::string reasoning_effort;
  absl::Time created;
  // Set by SaveProviderState: what the provider needs to continue the call after a restart.
  std::string provider_state;
  // Upper bounds on the call's usage. The ledger counts them from the transaction that admits the
  // call to the one that settles it.
  int64_t reserved_tokens = 0;
  int64_t reserved_nano = 0;  // nano-dollars
  bool admitted = true;       // false: sent before a restart, and waits for a new reservation
  absl::Time sent;            // the epoch if not sent since it was admitted
  // Sends whose reply was lost, and the usage that was counted for them.
  int lost_sends = 0;
  int64_t lost_tokens = 0;
  int64_t lost_nano = 0;
  // The fields from here on are set by RecordReply.
  bool answered = false;
  std::string error;  // not empty: the call failed permanently (text of the status)
  std::string reply;
  std::string finish_reason;
  std::string reply_model;
  int64_t input_tokens = 0;
  int64_t output_tokens = 0;
  TokenUsage usage;  // the parts of the tokens above, if the provider reported them
  int64_t cost_nano = 0;
  // Basis of the cost: that of the price ("table", "given", ...), "estimated" (the provider
  // reported no usage, so the reservation counts), or "refused" (not billed).
  std::string cost_basis;
  int64_t counted_tokens = 0;  // in the ledger; equal to the fields above unless estimated
  absl::Time replied;
};

struct LedgerCaps {
  std::string scope;  // "" for the whole run, else "PROVIDER/MODEL"
  std::optional<int64_t> calls;
  std::optional<int64_t> tokens;
  std::optional<int64_t> nano_usd;
};

// Usage of a run, or of one model within it.
struct LedgerRow {
  std::string scope;
  int64_t calls = 0;
  int64_t tokens_spent = 0;
  int64_t tokens_reserved = 0;
  int64_t nano_spent = 0;
  int64_t nano_reserved = 0;
  int64_t evaluations = 0;  // only in the run's own row
  int64_t device_us = 0;    // only in the run's own row
  int64_t device_nano = 0;  // only in the run's own row: cost of that time
  LedgerCaps caps;
};

struct CandidateRow {
  std::string run_id;
  std::string candidate_id;
  v1::Sources sources;
  std::string node_id;
  std::string parent_candidate_id;
  std::string call_id;  // call whose reply contained it; empty for a seed solution
  int cycle = 0;
  int round = 0;
  int attempt = 0;
  // The candidate's screening job. Empty if it is not known yet; writing an empty id keeps the
  // stored one.
  std::string job_id;
  // When read: from the run's CANDIDATE_PASSED event, -1 if there is none. Ignored when written.
  double score = -1;
};

// Returns true if a run's ledger counts a job of this kind as an evaluation. Profiles, examinations
// and timings of a baseline do not count; their device time is counted with their results all the
// same.
inline bool IsEvaluation(v1::JobKind kind) {
  return kind != v1::JOB_KIND_PROFILE && kind != v1::JOB_KIND_EXAMINE &&
         kind != v1::JOB_KIND_BASELINE && kind != v1::JOB_KIND_DESCRIBE;
}

// A job that a run requests, and the run's name for it.
struct JobRequestRow {
  std::string job_id;
  v1::JobSpec spec;
  std::string tag;  // name chosen by the strategy or engine, e.g. "screen/3/2", "confirm/4"
};

// A reply or result that arrived for a run. A search applies its arrivals exactly once each, in the
// order of commit.
struct Arrival {
  int64_t seq = 0;
  enum class Kind { kReply, kResult } kind = Kind::kReply;
  std::string ref;  // call_id, or job_id
  std::string tag;  // of the job request; empty for replies
};

// One step of a run: everything that follows from the arrivals up to `cursor`, in one transaction.
struct StepCommit {
  std::string run_id;
  int64_t cursor = 0;    // arrivals with seq <= cursor are applied in `state`
  std::string state;     // opaque to the store
  v1::RunStatus status;  // as GetRun returns it
  // Set if its revision changed; every revision is kept permanently. Borrowed while the step is
  // committed.
  const v1::WorldModel* world_model = nullptr;
  // All caps of the run from now on.
  std::optional<std::vector<LedgerCaps>> caps;
  // Ids of unanswered calls that were sent before a restart. Their reservations count as spent, and
  // they wait to be admitted again (by appearing in `calls` of this step or a later one).
  std::vector<std::string> lost_calls;
  std::vector<LlmCallRow> calls;  // new calls, and earlier ones that were waiting for admission
  std::vector<CandidateRow> candidates;
  std::vector<JobRequestRow>
      jobs;  // a job that already has a result adds its arrival in this transaction
  std::vector<v1::RunEvent> events;     // the store sets seq
  std::vector<v1::MeasuredGain> gains;  // the store sets recorded_at
  // Candidates of the run that were refused. If they have a recorded gain, it no longer counts.
  std::vector<std::string> refused_gains;
};

// Selects the measured gains that match every field that is set.
struct GainFilter {
  std::string run_id;
  std::string task;
  std::string op_type;
  std::string architecture;
  std::string benchmark;
  std::string not_of_benchmark;
  std::string not_of_experiment;
  v1::DeviceClass device = v1::DEVICE_CLASS_UNSPECIFIED;
  v1::Language language = v1::LANGUAGE_UNSPECIFIED;
};

struct RunRow {
  std::string run_id;
  std::string request_id;
  v1::RunConfig config;
  v1::RunStatus status;
  std::string state;
  int64_t cursor = 0;
};

struct QueuedJob {
  std::string job_id;
  v1::JobSpec spec;
  // attempts that ended without a result or are still open, except cancelled ones
  int attempts = 0;
  std::vector<std::string> run_ids;  // runs that requested the job; empty for ksearch eval
  std::map<std::string, std::string> worker_of_lease;  // of all attempts
};

// One result without its body.
struct ResultRow {
  int64_t number = 0;  // ascending in order of arrival
  std::string job_id;
  v1::JobSpec spec;
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  absl::Time recorded;
};

// A task whose own programs are at fault, with the job that showed it.
struct TaskFaultRow {
  v1::JobSpec spec;
  v1::JobResult result;
};

struct AttemptRow {
  std::string job_id;
  int attempt = 0;
  std::string worker_id;
  std::string lease_id;
  std::string ended;  // "", "recorded", "lost", "returned", "cancelled"
  std::string note;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_ROWS_H_

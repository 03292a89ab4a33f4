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

// A call to a model. Committed before it is sent; its reply is committed before it is used.
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
  std::string dropped_parts;  // which prompt parts were cut or dropped, one per line
  int max_output_tokens = 0;
  std::string reasoning_effort;
  absl::Time created;
  // Set by SaveProviderState: what the provider needs to go on with the call after a restart.
  std::string provider_state;
  // The most it can take; counted in the ledger from the transaction that admits the call to the
  // one that settles it.
  int64_t reserved_tokens = 0;
  int64_t reserved_nano = 0;  // nano-dollars
  bool admitted = true;       // false: was sent by an earlier life and waits to be reserved again
  absl::Time sent;            // the epoch: not sent since it was admitted
  // Sends whose reply was lost, and what was counted for them.
  int lost_sends = 0;
  int64_t lost_tokens = 0;
  int64_t lost_nano = 0;
  // Set by RecordReply:
  bool answered = false;
  std::string error;  // non-empty: the call failed for good (status text)
  std::string reply;
  std::string finish_reason;
  std::string reply_model;
  int64_t input_tokens = 0;
  int64_t output_tokens = 0;
  TokenUsage usage;  // of which these are the sums, if the provider told
  int64_t cost_nano = 0;
  // What the cost rests on: that of the price ("table", "given", ...), "estimated" (no usage was
  // told: the reservation stands), "refused" (not billed).
  std::string cost_basis;
  int64_t counted_tokens = 0;  // in the ledger; those above unless estimated
  absl::Time replied;
};

struct LedgerCaps {
  std::string scope;  // "": the run; else "PROVIDER/MODEL"
  std::optional<int64_t> calls;
  std::optional<int64_t> tokens;
  std::optional<int64_t> nano_usd;
};

// What a run, or one model of it, has used.
struct LedgerRow {
  std::string scope;
  int64_t calls = 0;
  int64_t tokens_spent = 0;
  int64_t tokens_reserved = 0;
  int64_t nano_spent = 0;
  int64_t nano_reserved = 0;
  int64_t evaluations = 0;  // of the run's own row only
  int64_t device_us = 0;    // likewise
  int64_t device_nano = 0;  // likewise: what that time cost
  LedgerCaps caps;
};

struct CandidateRow {
  std::string run_id;
  std::string candidate_id;
  v1::Sources sources;
  std::string node_id;
  std::string parent_candidate_id;
  std::string call_id;  // the reply it came from; empty for a seed solution
  int cycle = 0;
  int round = 0;
  int attempt = 0;
  // Its screening job; empty: not known yet, and when written: as it was.
  std::string job_id;
  // From the run's CANDIDATE_PASSED event when read back; -1 = none. Ignored when written.
  double score = -1;
};

// Whether a run's ledger counts such a job among its evaluations. Profiles, examinations and times
// of a baseline are none; their device time is counted with their results all the same.
inline bool IsEvaluation(v1::JobKind kind) {
  return kind != v1::JOB_KIND_PROFILE && kind != v1::JOB_KIND_EXAMINE &&
         kind != v1::JOB_KIND_BASELINE && kind != v1::JOB_KIND_DESCRIBE;
}

// A job a run asks for, and as what.
struct JobRequestRow {
  std::string job_id;
  v1::JobSpec spec;
  std::string tag;  // the strategy's or engine's own name for it, e.g. "screen/3/2", "confirm/4"
};

// What arrived for a run, in the order of commit: the feed a search folds over, once each.
struct Arrival {
  int64_t seq = 0;
  enum class Kind { kReply, kResult } kind = Kind::kReply;
  std::string ref;  // call_id, or job_id
  std::string tag;  // of the job request; empty for replies
};

// One step of a run: everything that follows from the arrivals up to `cursor`, in one transaction.
struct StepCommit {
  std::string run_id;
  int64_t cursor = 0;    // arrivals with seq <= cursor are folded into `state`
  std::string state;     // opaque to the store
  v1::RunStatus status;  // what GetRun shows
  // Given when its revision changed, and kept for ever. Borrowed while the step is committed.
  const v1::WorldModel* world_model = nullptr;
  // The run's caps from now on, all of them.
  std::optional<std::vector<LedgerCaps>> caps;
  // Ids of unanswered calls that were sent by an earlier life: their reservations are spent, and
  // they wait to be admitted again (by being in `calls`, of this step or a later one).
  std::vector<std::string> lost_calls;
  std::vector<LlmCallRow> calls;  // new ones, and those that wait to be admitted
  std::vector<CandidateRow> candidates;
  std::vector<JobRequestRow>
      jobs;  // already recorded job: its arrival is added in this transaction
  std::vector<v1::RunEvent> events;     // seq set by the store
  std::vector<v1::MeasuredGain> gains;  // recorded_at set by the store
  // Candidates of the run that were refused, whose gain, if one was recorded, is none.
  std::vector<std::string> refused_gains;
};

// Which measured gains: those that every field given fits.
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
  int attempts = 0;  // that ended without a result or are still open; cancelled ones do not count
  std::vector<std::string> run_ids;  // that asked for it; empty: none did (ksearch eval)
  std::map<std::string, std::string> worker_of_lease;  // of all its attempts
};

// One result, without its body.
struct ResultRow {
  int64_t number = 0;  // rises in order of arrival
  std::string job_id;
  v1::JobSpec spec;
  v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  absl::Time recorded;
};

// A task whose own programs are at fault, by the job that found it.
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

#ifndef KSEARCH_COORDINATOR_STORE_STORE_H_
#define KSEARCH_COORDINATOR_STORE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "proto/config.pb.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// ---------------------------------------------------------------- rows

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
  // Set by RecordReply:
  bool answered = false;
  std::string error;  // non-empty: the call failed for good (status text)
  std::string reply;
  std::string finish_reason;
  std::string reply_model;
  int64_t input_tokens = 0;
  int64_t output_tokens = 0;
  absl::Time replied;
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
  std::string job_id;  // its screening job
  // From the run's CANDIDATE_PASSED event when read back; -1 = none. Ignored when written.
  double score = -1;
};

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
  int64_t cursor = 0;                         // arrivals with seq <= cursor are folded into `state`
  std::string state;                          // opaque to the store
  v1::RunStatus status;                       // what GetRun shows
  std::optional<v1::WorldModel> world_model;  // set when its revision changed; kept for ever
  std::vector<LlmCallRow> calls;
  std::vector<CandidateRow> candidates;
  std::vector<JobRequestRow>
      jobs;  // already recorded job: its arrival is added in this transaction
  std::vector<v1::RunEvent> events;  // seq set by the store
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
};

struct AttemptRow {
  std::string job_id;
  int attempt = 0;
  std::string worker_id;
  std::string lease_id;
  std::string ended;  // "", "recorded", "lost", "returned", "cancelled"
  std::string note;
};

// ---------------------------------------------------------------- store

// The results store: the one SQLite database of a coordinator. WAL, synchronous=FULL; one writer
// thread groups posted operations into transactions; reads use separate read-only connections.
// Rows of results, replies and candidates are never updated or deleted. Thread-safe.
//
// Errors: RESOURCE_EXHAUSTED disk full (nothing of the operation is kept), DATA_LOSS corrupted
// file, UNAVAILABLE closing.
class Store {
 public:
  struct Options {
    std::string path;  // file; created with its folder if missing
    absl::Duration lock_wait = absl::Seconds(5);
  };
  // FAILED_PRECONDITION: another coordinator holds the file, it was written by a newer version, or
  // it belongs to another program (the message says which). PERMISSION_DENIED: read-only file or
  // folder. DATA_LOSS: not a database.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const Options& options,
                                                     const Clock& clock = Clock::Real());
  virtual ~Store() = default;

  // Runs once for each arrival committed, on the writer thread; must not block nor call a blocking
  // method. Set before use.
  virtual void SetArrivalListener(std::function<void(const std::string& run_id)> listener) = 0;

  // ---- runs (blocking until committed)
  // Idempotent by request_id: returns the id of the run that has it.
  virtual absl::StatusOr<std::string> CreateRun(const RunRow& run) = 0;
  // All or nothing. FAILED_PRECONDITION: the cursor would go back, or a call_id, tag or world-model
  // revision of the run already stands for something else. NOT_FOUND: no such run.
  virtual absl::Status CommitStep(const StepCommit& step) = 0;
  virtual absl::StatusOr<RunRow> ReadRun(const std::string& run_id) = 0;  // NOT_FOUND
  // In all reads a `limit` <= 0 is none.
  // "last", a full id or a unique prefix -> id. NOT_FOUND; INVALID_ARGUMENT if ambiguous.
  virtual absl::StatusOr<std::string> ResolveRun(const std::string& prefix) = 0;
  virtual absl::StatusOr<std::vector<v1::RunStatus>> ListRuns() = 0;  // newest first
  virtual absl::StatusOr<std::vector<Arrival>> ReadArrivals(const std::string& run_id,
                                                            int64_t after_seq, int limit) = 0;
  virtual absl::StatusOr<std::vector<v1::RunEvent>> ReadEvents(const std::string& run_id,
                                                               int64_t after_seq, int limit) = 0;
  virtual absl::StatusOr<v1::WorldModel> ReadWorldModel(const std::string& run_id,
                                                        int64_t revision) = 0;  // 0 = newest
  virtual absl::StatusOr<CandidateRow> ReadCandidate(const std::string& run_id,
                                                     const std::string& prefix) = 0;
  virtual absl::StatusOr<std::vector<CandidateRow>> ListCandidates(const std::string& run_id) = 0;

  // ---- model calls
  // Records the reply (or final error) and its arrival. Idempotent: the first one wins. NOT_FOUND:
  // no such call.
  virtual void RecordReply(const LlmCallRow& call, absl::AnyInvocable<void(absl::Status)> done) = 0;
  virtual absl::StatusOr<LlmCallRow> ReadCall(const std::string& call_id) = 0;
  virtual absl::StatusOr<std::vector<LlmCallRow>> ReadUnansweredCalls(
      const std::string& run_id) = 0;

  // ---- jobs
  // Stores a job outside any run (ksearch eval). Idempotent.
  virtual absl::Status AddJob(const std::string& job_id, const v1::JobSpec& spec) = 0;
  // Jobs without a result, oldest first.
  virtual absl::StatusOr<std::vector<QueuedJob>> ReadUnfinishedJobs() = 0;
  // First row per job wins; adds one arrival per run that asked for it. `done` after commit, on the
  // writer thread; must not block.
  virtual void RecordResult(
      const v1::JobResult& result, const std::string& lease_id,
      absl::AnyInvocable<void(absl::StatusOr<v1::RecordResultReply::Disposition>)> done) = 0;
  // One row per lease: inserted when it starts, ended once. A result recorded under the lease ends
  // it as "recorded" by itself.
  virtual void RecordAttempt(const AttemptRow& attempt,
                             absl::AnyInvocable<void(absl::Status)> done) = 0;
  virtual absl::StatusOr<std::optional<v1::JobResult>> ReadResult(const std::string& job_id) = 0;
  virtual absl::StatusOr<v1::JobSpec> ReadJob(const std::string& job_id) = 0;
  // Results a run asked for with the candidate as subject, oldest first.
  virtual absl::StatusOr<std::vector<v1::JobResult>> ReadResultsOf(
      const std::string& run_id, const std::string& candidate_id) = 0;

  // ---- blobs and workers
  virtual absl::Status PutBlob(const std::string& sha256,
                               const std::string& bytes) = 0;  // idempotent
  virtual absl::StatusOr<std::string> ReadBlob(const std::string& sha256) = 0;
  virtual absl::Status UpsertWorker(const v1::WorkerHello& hello, absl::Time seen) = 0;
  virtual absl::StatusOr<std::vector<v1::WorkerStatus>> ListWorkers() = 0;  // as last seen

  virtual int schema_version() const = 0;
  // Copies the database to `path` while in use (SQLite backup API).
  virtual absl::Status Backup(const std::string& path) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_STORE_H_

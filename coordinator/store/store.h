#ifndef KSEARCH_COORDINATOR_STORE_STORE_H_
#define KSEARCH_COORDINATOR_STORE_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "coordinator/store/rows.h"
#include "proto/config.pb.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// The results store: the one SQLite database of a coordinator. WAL, synchronous=FULL; one writer
// thread groups posted operations into transactions; reads use separate read-only connections.
// Rows of results, replies and candidates are never updated or deleted, but for a candidate's
// screening job, which may be known only later. Thread-safe.
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
  // Copies the database at `path` to `target` without opening it as a coordinator would: another
  // may be using it. `target` appears whole or not at all; an older one is replaced. NOT_FOUND: no
  // such database. FAILED_PRECONDITION: it belongs to another program.
  static absl::Status BackupFile(const std::string& path, const std::string& target);
  virtual ~Store() = default;

  // Runs once for each arrival committed, on the writer thread; must not block nor call a blocking
  // method. Set before use.
  virtual void SetArrivalListener(std::function<void(const std::string& run_id)> listener) = 0;
  // Runs once for each step committed that has events, with all of them, each with the status after
  // the step; in the order of their cursors, on the writer thread. Must not block nor call a
  // blocking method. Set before use.
  using EventListener = std::function<void(const std::vector<v1::FeedEntry>& entries)>;
  virtual void SetEventListener(EventListener listener) = 0;

  // ---- runs (blocking until committed)
  // Idempotent by request_id: returns the id of the run that has it.
  virtual absl::StatusOr<std::string> CreateRun(const RunRow& run) = 0;
  // All or nothing. FAILED_PRECONDITION: the cursor would go back, or a call_id, tag or world-model
  // revision of the run already stands for something else. NOT_FOUND: no such run. OUT_OF_RANGE: a
  // call's reservation does not fit under a cap of the run or of its model.
  virtual absl::Status CommitStep(const StepCommit& step) = 0;
  virtual absl::StatusOr<RunRow> ReadRun(const std::string& run_id) = 0;  // NOT_FOUND
  // ReadRun(run_id).status, without reading the state, which may be megabytes.
  virtual absl::StatusOr<v1::RunStatus> ReadRunStatus(const std::string& run_id) = 0;
  // In all reads a `limit` <= 0 is none.
  // "last", a full id or a unique prefix -> id. NOT_FOUND; INVALID_ARGUMENT if ambiguous.
  virtual absl::StatusOr<std::string> ResolveRun(const std::string& prefix) = 0;
  virtual absl::StatusOr<std::vector<v1::RunStatus>> ListRuns() = 0;  // newest first
  virtual absl::StatusOr<std::vector<Arrival>> ReadArrivals(const std::string& run_id,
                                                            int64_t after_seq, int limit) = 0;
  virtual absl::StatusOr<std::vector<v1::RunEvent>> ReadEvents(const std::string& run_id,
                                                               int64_t after_seq, int limit) = 0;
  // The events of all runs, in the order of commit, from beyond the cursor on; without their runs'
  // status. A cursor rises for ever.
  virtual absl::StatusOr<std::vector<v1::FeedEntry>> ReadAllEvents(int64_t after_cursor,
                                                                   int limit) = 0;
  virtual absl::StatusOr<int64_t> ReadNewestCursor() = 0;  // 0: there is no event yet
  virtual absl::StatusOr<v1::WorldModel> ReadWorldModel(const std::string& run_id,
                                                        int64_t revision) = 0;  // 0 = newest
  virtual absl::StatusOr<CandidateRow> ReadCandidate(const std::string& run_id,
                                                     const std::string& prefix) = 0;
  virtual absl::StatusOr<std::vector<CandidateRow>> ListCandidates(const std::string& run_id) = 0;

  // What the run has used so far: its own row first, then one per model.
  virtual absl::StatusOr<std::vector<LedgerRow>> ReadLedger(const std::string& run_id) = 0;

  // ---- model calls
  // The call is about to be sent: if its reply is lost, it counts as spent. NOT_FOUND: no such call
  // without an answer.
  virtual void RecordSend(const std::string& call_id,
                          absl::AnyInvocable<void(absl::Status)> done) = 0;
  // Records the reply (or final error) and its arrival, and settles what was reserved for the call.
  // Idempotent: the first one wins. NOT_FOUND: no such call.
  virtual void RecordReply(const LlmCallRow& call, absl::AnyInvocable<void(absl::Status)> done) = 0;
  // Replaces the provider_state of an unanswered call; of an answered one it is dropped. `done`
  // after commit, on the writer thread; must not block. NOT_FOUND: no such call.
  virtual void SaveProviderState(const std::string& call_id, const std::string& state,
                                 absl::AnyInvocable<void(absl::Status)> done) = 0;
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
  // What recorded results have shown of tasks' own programs (common/task_evidence.h) and no later
  // one has disproved, in the order of the results: one row per language and platform of a task.
  virtual absl::StatusOr<std::vector<TaskFaultRow>> ReadTaskFaults() = 0;
  virtual absl::StatusOr<v1::JobSpec> ReadJob(const std::string& job_id) = 0;
  // Newest first. `task_name`: of this task only, empty: of all. `before`: a number; 0: from the
  // newest on.
  virtual absl::StatusOr<std::vector<ResultRow>> ListResults(const std::string& task_name,
                                                             int64_t before, int limit) = 0;
  // Results a run asked for with the candidate as subject, oldest first.
  virtual absl::StatusOr<std::vector<v1::JobResult>> ReadResultsOf(
      const std::string& run_id, const std::string& candidate_id) = 0;

  // ---- blobs and workers
  virtual absl::Status PutBlob(const std::string& sha256,
                               const std::string& bytes) = 0;  // idempotent
  virtual absl::StatusOr<std::string> ReadBlob(const std::string& sha256) = 0;
  // `owner`: whose credentials it came with; empty: none are in use.
  virtual absl::Status UpsertWorker(const v1::WorkerHello& hello, const std::string& owner,
                                    absl::Time seen) = 0;
  virtual absl::StatusOr<std::vector<v1::WorkerStatus>> ListWorkers() = 0;  // as last seen
  // By worker_id, of those that have one.
  virtual absl::StatusOr<std::map<std::string, std::string>> ReadWorkerOwners() = 0;

  // ---- measured gains (RunConfig.memory); CommitStep records them
  // Newest first.
  virtual absl::StatusOr<std::vector<v1::MeasuredGain>> ReadGains(const GainFilter& filter,
                                                                  int limit) = 0;
  // Blocks until committed; returns how many there were.
  virtual absl::StatusOr<int64_t> ForgetGains(const GainFilter& filter) = 0;

  // ---- retention; what goes was archived before (run_archive.h)
  // Removes a run that has ended with everything that only it has, blobs excepted; its measured
  // gains stay. Blocks until committed. False: there is no such run.
  // FAILED_PRECONDITION: it has not ended, its last event is not `last_event_seq`, or it has the
  // newest event of the database, whose number must never be used again.
  virtual absl::StatusOr<bool> RemoveRun(const std::string& run_id, int64_t last_event_seq) = 0;
  // Removes blobs that no job names, but for those that this process has put: a job with one of
  // them may be on its way. REQUIRES: no job named them after the start of this process but such
  // whose blob was put before.
  virtual absl::Status RemoveBlobs(const std::vector<std::string>& names) = 0;
  // Bytes of the file that are free for later rows.
  virtual absl::StatusOr<int64_t> ReadReusableBytes() = 0;

  virtual int schema_version() const = 0;
  // Copies the database to `path` while in use (SQLite backup API).
  virtual absl::Status Backup(const std::string& path) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_STORE_H_

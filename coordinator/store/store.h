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

// The coordinator's results store, one SQLite database. WAL, synchronous=FULL; one writer thread
// groups posted operations into transactions; reads use separate read-only connections. Rows of
// results, replies and candidates are never updated or deleted, except that a candidate's screening
// job may be added later, and by RemoveRun. Thread-safe.
//
// Errors: RESOURCE_EXHAUSTED: the disk is full, and nothing of the operation is kept; DATA_LOSS:
// the file is corrupted; UNAVAILABLE: the store is closing.
class Store {
 public:
  struct Options {
    std::string path;  // of the file, which is created with its folder if missing
    absl::Duration lock_wait = absl::Seconds(5);
  };
  // FAILED_PRECONDITION: another coordinator holds the file, a newer version wrote it, or it
  // belongs to another program (the message says which). PERMISSION_DENIED: the file or folder is
  // read-only. DATA_LOSS: not a database.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const Options& options,
                                                     const Clock& clock = Clock::Real());
  // Copies the database at `path` to `target` without opening it as a coordinator would: another
  // process may be using it. `target` appears whole or not at all, and replaces an older file.
  // NOT_FOUND: no such database. FAILED_PRECONDITION: it belongs to another program.
  static absl::Status BackupFile(const std::string& path, const std::string& target);
  virtual ~Store() = default;

  // Calls `listener` once for each committed arrival, on the writer thread. It must neither block
  // nor call a blocking method. Set it before use.
  virtual void SetArrivalListener(std::function<void(const std::string& run_id)> listener) = 0;
  // Called once for each committed step that has events, with all of them, each with the status
  // after the step. Calls follow the order of the cursors, on the writer thread. Must neither block
  // nor call a blocking method. Set it before use.
  using EventListener = std::function<void(const std::vector<v1::FeedEntry>& entries)>;
  virtual void SetEventListener(EventListener listener) = 0;

  // ---- Runs (blocking until committed)
  //
  // Idempotent by request_id: returns the id of the run that was created with it.
  virtual absl::StatusOr<std::string> CreateRun(const RunRow& run) = 0;
  // Commits all of the step or nothing. FAILED_PRECONDITION: the cursor would go back, or a
  // call_id, tag or world-model revision of the run is already used for something else. NOT_FOUND:
  // no such run. OUT_OF_RANGE: the reservation of a call exceeds a cap of the run or of its model.
  virtual absl::Status CommitStep(const StepCommit& step) = 0;
  virtual absl::StatusOr<RunRow> ReadRun(const std::string& run_id) = 0;  // NOT_FOUND
  // Returns ReadRun(run_id).status without reading the state, which may be megabytes.
  virtual absl::StatusOr<v1::RunStatus> ReadRunStatus(const std::string& run_id) = 0;
  // In all reads, a `limit` <= 0 means no limit.
  //
  // Resolves "last", a full id or a unique prefix to an id. NOT_FOUND; INVALID_ARGUMENT if
  // ambiguous.
  virtual absl::StatusOr<std::string> ResolveRun(const std::string& prefix) = 0;
  virtual absl::StatusOr<std::vector<v1::RunStatus>> ListRuns() = 0;  // newest first
  virtual absl::StatusOr<std::vector<Arrival>> ReadArrivals(const std::string& run_id,
                                                            int64_t after_seq, int limit) = 0;
  virtual absl::StatusOr<std::vector<v1::RunEvent>> ReadEvents(const std::string& run_id,
                                                               int64_t after_seq, int limit) = 0;
  // Returns the events of all runs after the cursor, in the order of commit, without the status of
  // their runs. Cursors only ever increase.
  virtual absl::StatusOr<std::vector<v1::FeedEntry>> ReadAllEvents(int64_t after_cursor,
                                                                   int limit) = 0;
  virtual absl::StatusOr<int64_t> ReadNewestCursor() = 0;  // 0 if there is no event yet
  virtual absl::StatusOr<v1::WorldModel> ReadWorldModel(const std::string& run_id,
                                                        int64_t revision) = 0;  // 0: the newest
  virtual absl::StatusOr<CandidateRow> ReadCandidate(const std::string& run_id,
                                                     const std::string& prefix) = 0;
  virtual absl::StatusOr<std::vector<CandidateRow>> ListCandidates(const std::string& run_id) = 0;

  // Returns the usage of the run so far: its own row first, then one per model.
  virtual absl::StatusOr<std::vector<LedgerRow>> ReadLedger(const std::string& run_id) = 0;

  // ---- Model calls
  //
  // Records that the call is about to be sent: if its reply is lost, it counts as spent. NOT_FOUND:
  // there is no such unanswered call.
  virtual void RecordSend(const std::string& call_id,
                          absl::AnyInvocable<void(absl::Status)> done) = 0;
  // Records the reply (or final error) and its arrival, and settles the call's reservation.
  // Idempotent: the first reply wins. NOT_FOUND: no such call.
  virtual void RecordReply(const LlmCallRow& call, absl::AnyInvocable<void(absl::Status)> done) = 0;
  // Replaces the provider_state of an unanswered call; no effect on an answered one. `done` is
  // called after the commit, on the writer thread, and must not block. NOT_FOUND: no such call.
  virtual void SaveProviderState(const std::string& call_id, const std::string& state,
                                 absl::AnyInvocable<void(absl::Status)> done) = 0;
  virtual absl::StatusOr<LlmCallRow> ReadCall(const std::string& call_id) = 0;
  virtual absl::StatusOr<std::vector<LlmCallRow>> ReadUnansweredCalls(
      const std::string& run_id) = 0;

  // ---- Jobs
  //
  // Stores a job that belongs to no run (ksearch eval). Idempotent.
  virtual absl::Status AddJob(const std::string& job_id, const v1::JobSpec& spec) = 0;
  // Jobs without a result, oldest first.
  virtual absl::StatusOr<std::vector<QueuedJob>> ReadUnfinishedJobs() = 0;
  // Records a result. The first result of a job wins. Adds one arrival for each run that requested
  // the job. `done` is called after the commit, on the writer thread, and must not block.
  virtual void RecordResult(
      const v1::JobResult& result, const std::string& lease_id,
      absl::AnyInvocable<void(absl::StatusOr<v1::RecordResultReply::Disposition>)> done) = 0;
  // Records one row per lease: inserted when the lease starts, ended once. Recording a result under
  // the lease ends it as "recorded".
  virtual void RecordAttempt(const AttemptRow& attempt,
                             absl::AnyInvocable<void(absl::Status)> done) = 0;
  virtual absl::StatusOr<std::optional<v1::JobResult>> ReadResult(const std::string& job_id) = 0;
  // Returns the faults that recorded results have shown in tasks' own programs
  // (common/task_evidence.h) and that no later result has disproved, in the order of the results:
  // one row per language and platform of a task.
  virtual absl::StatusOr<std::vector<TaskFaultRow>> ReadTaskFaults() = 0;
  virtual absl::StatusOr<v1::JobSpec> ReadJob(const std::string& job_id) = 0;
  // Returns results, newest first. `task_name`: only of this task; empty: of all. `before`: a
  // result number; 0: from the newest on.
  virtual absl::StatusOr<std::vector<ResultRow>> ListResults(const std::string& task_name,
                                                             int64_t before, int limit) = 0;
  // Returns the results of jobs that the run requested for the candidate, oldest first.
  virtual absl::StatusOr<std::vector<v1::JobResult>> ReadResultsOf(
      const std::string& run_id, const std::string& candidate_id) = 0;

  // ---- Blobs and workers
  virtual absl::Status PutBlob(const std::string& sha256,
                               const std::string& bytes) = 0;  // idempotent
  virtual absl::StatusOr<std::string> ReadBlob(const std::string& sha256) = 0;
  // `owner`: the credentials that the worker used; empty if none are in use.
  virtual absl::Status UpsertWorker(const v1::WorkerHello& hello, const std::string& owner,
                                    absl::Time seen) = 0;
  virtual absl::StatusOr<std::vector<v1::WorkerStatus>> ListWorkers() = 0;  // as last seen
  // By worker_id; workers without an owner are omitted.
  virtual absl::StatusOr<std::map<std::string, std::string>> ReadWorkerOwners() = 0;

  // ---- Measured gains (RunConfig.memory), which CommitStep records
  //
  // Newest first.
  virtual absl::StatusOr<std::vector<v1::MeasuredGain>> ReadGains(const GainFilter& filter,
                                                                  int limit) = 0;
  // Deletes the gains that match and returns their number. Blocks until committed.
  virtual absl::StatusOr<int64_t> ForgetGains(const GainFilter& filter) = 0;

  // ---- Retention; callers archive what is removed first (run_archive.h)
  //
  // Removes an ended run with everything that only it uses, except blobs; its measured gains stay.
  // Blocks until committed. Returns false if there is no such run. FAILED_PRECONDITION: it has not
  // ended, its last event is not `last_event_seq`, or it has the newest event of the database,
  // whose number must never be used again.
  virtual absl::StatusOr<bool> RemoveRun(const std::string& run_id, int64_t last_event_seq) = 0;
  // Removes those of the named blobs that no job names, except blobs that this process has put,
  // because a job that needs one may be about to be added. REQUIRES: since this process started, no
  // job has named any of these blobs unless the blob was put first.
  virtual absl::Status RemoveBlobs(const std::vector<std::string>& names) = 0;
  // Bytes within the file that are free for new rows.
  virtual absl::StatusOr<int64_t> ReadReusableBytes() = 0;

  virtual int schema_version() const = 0;
  // Copies the database to `path` while it is in use (SQLite backup API).
  virtual absl::Status Backup(const std::string& path) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_STORE_H_

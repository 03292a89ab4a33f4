#ifndef KSEARCH_COORDINATOR_STORE_SQLITE_STORE_H_
#define KSEARCH_COORDINATOR_STORE_SQLITE_STORE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/mutex.h"
#include "coordinator/store/checkpointer.h"
#include "coordinator/store/database.h"
#include "coordinator/store/file_lock.h"
#include "coordinator/store/state_pieces.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_writer.h"
#include "coordinator/store/world_model_rows.h"

namespace ksearch {

// A Store in one SQLite file. Writes go through StoreWriter, reads through a pool of read-only
// connections, one per read in progress. run_rows, proposal_rows and job_rows define the meaning of
// the rows.
class SqliteStore final : public Store {
 public:
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const Options& options,
                                                           const Clock& clock);

  void SetArrivalListener(std::function<void(const std::string& run_id)> listener) override;
  void SetEventListener(EventListener listener) override;
  absl::StatusOr<std::string> CreateRun(const RunRow& run) override;
  absl::Status CommitStep(const StepCommit& step) override;
  absl::StatusOr<RunRow> ReadRun(const std::string& run_id) override;
  absl::StatusOr<v1::RunStatus> ReadRunStatus(const std::string& run_id) override;
  absl::StatusOr<std::string> ResolveRun(const std::string& prefix) override;
  absl::StatusOr<std::vector<v1::RunStatus>> ListRuns() override;
  absl::StatusOr<std::vector<Arrival>> ReadArrivals(const std::string& run_id, int64_t after_seq,
                                                    int limit) override;
  absl::StatusOr<std::vector<v1::RunEvent>> ReadEvents(const std::string& run_id, int64_t after_seq,
                                                       int limit) override;
  absl::StatusOr<std::vector<v1::FeedEntry>> ReadAllEvents(int64_t after_cursor,
                                                           int limit) override;
  absl::StatusOr<int64_t> ReadNewestCursor() override;
  absl::StatusOr<v1::WorldModel> ReadWorldModel(const std::string& run_id,
                                                int64_t revision) override;
  absl::StatusOr<CandidateRow> ReadCandidate(const std::string& run_id,
                                             const std::string& prefix) override;
  absl::StatusOr<std::vector<CandidateRow>> ListCandidates(const std::string& run_id) override;

  absl::StatusOr<std::vector<LedgerRow>> ReadLedger(const std::string& run_id) override;
  void RecordSend(const std::string& call_id, absl::AnyInvocable<void(absl::Status)> done) override;
  void RecordReply(const LlmCallRow& call, absl::AnyInvocable<void(absl::Status)> done) override;
  void SaveProviderState(const std::string& call_id, const std::string& state,
                         absl::AnyInvocable<void(absl::Status)> done) override;
  absl::StatusOr<LlmCallRow> ReadCall(const std::string& call_id) override;
  absl::StatusOr<std::vector<LlmCallRow>> ReadUnansweredCalls(const std::string& run_id) override;

  absl::Status AddJob(const std::string& job_id, const v1::JobSpec& spec) override;
  absl::StatusOr<std::vector<QueuedJob>> ReadUnfinishedJobs() override;
  void RecordResult(
      const v1::JobResult& result, const std::string& lease_id,
      absl::AnyInvocable<void(absl::StatusOr<v1::RecordResultReply::Disposition>)> done) override;
  void RecordAttempt(const AttemptRow& attempt,
                     absl::AnyInvocable<void(absl::Status)> done) override;
  absl::StatusOr<std::optional<v1::JobResult>> ReadResult(const std::string& job_id) override;
  absl::StatusOr<v1::JobSpec> ReadJob(const std::string& job_id) override;
  absl::StatusOr<std::vector<ResultRow>> ListResults(const std::string& task_name, int64_t before,
                                                     int limit) override;
  absl::StatusOr<std::vector<v1::JobResult>> ReadResultsOf(
      const std::string& run_id, const std::string& candidate_id) override;

  absl::Status PutBlob(const std::string& sha256, const std::string& bytes) override;
  absl::StatusOr<std::string> ReadBlob(const std::string& sha256) override;
  absl::Status UpsertWorker(const v1::WorkerHello& hello, const std::string& owner,
                            absl::Time seen) override;
  absl::StatusOr<std::vector<v1::WorkerStatus>> ListWorkers() override;
  absl::StatusOr<std::map<std::string, std::string>> ReadWorkerOwners() override;
  absl::StatusOr<std::vector<TaskFaultRow>> ReadTaskFaults() override;

  absl::StatusOr<std::vector<v1::MeasuredGain>> ReadGains(const GainFilter& filter,
                                                          int limit) override;
  absl::StatusOr<int64_t> ForgetGains(const GainFilter& filter) override;

  absl::StatusOr<bool> RemoveRun(const std::string& run_id, int64_t last_event_seq) override;
  absl::Status RemoveBlobs(const std::vector<std::string>& names) override;
  absl::StatusOr<int64_t> ReadReusableBytes() override;

  int schema_version() const override { return schema_version_; }
  absl::Status Backup(const std::string& path) override;

 private:
  SqliteStore(std::string path, int schema_version, FileLock lock,
              std::unique_ptr<Database> writing, std::unique_ptr<Database> copying,
              const Clock& clock);

  absl::StatusOr<std::unique_ptr<Database>> TakeReader();
  void GiveBackReader(std::unique_ptr<Database> reader);
  // Calls `read(database)` with a read-only connection. Every read is a single statement and
  // therefore sees one snapshot.
  template <typename Read>
  auto Reading(Read read) -> decltype(read(std::declval<Database&>()));
  void Notify(const std::vector<std::string>& runs) const;

  // Constant after construction; the listeners are constant from the first use on.
  const std::string path_;
  const int schema_version_;
  const Clock& clock_;
  std::function<void(const std::string& run_id)> listener_;
  EventListener event_listener_;
  // States and trees of active runs as committed. Used only by the writer thread.
  absl::flat_hash_map<std::string, PiecedState> pieced_;
  absl::flat_hash_map<std::string, world_model_rows::Parts> trees_;
  // Blobs that were put since the store was opened. Used only by the writer thread.
  absl::flat_hash_set<std::string> put_blobs_;

  // Destroyed in reverse order: the readers close; the writer commits what is posted and closes;
  // the checkpointer closes, which copies the rest of the write-ahead log into the file; then the
  // lock is released.
  const FileLock lock_;
  Checkpointer checkpointer_;
  StoreWriter writer_;
  Mutex readers_mu_;
  std::vector<std::unique_ptr<Database>> idle_readers_ ABSL_GUARDED_BY(readers_mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_SQLITE_STORE_H_

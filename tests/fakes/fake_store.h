#ifndef KSEARCH_TESTS_FAKES_FAKE_STORE_H_
#define KSEARCH_TESTS_FAKES_FAKE_STORE_H_

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/mutex.h"
#include "coordinator/store/store.h"

namespace ksearch {

// Keeps everything in memory, with the rules of the real store (first result wins, one arrival per
// run and job, sequence numbers from 1). Callbacks run on the calling thread, with no lock held.
// Thread-safe. To simulate a coordinator's restart, keep the object and recreate everything else.
class FakeStore final : public Store {
 public:
  // Every later CommitStep, RecordResult, RecordReply and SaveProviderState fails with `status`,
  // until called with OK.
  void FailWrites(absl::Status status);
  std::vector<AttemptRow> attempts() const;  // in order of (job, lease)
  int results() const;
  int run_reads() const { return run_reads_; }  // ReadRun calls so far

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

  // It never removes anything.
  absl::StatusOr<bool> RemoveRun(const std::string& run_id, int64_t last_event_seq) override;
  absl::Status RemoveBlobs(const std::vector<std::string>& names) override;
  absl::StatusOr<int64_t> ReadReusableBytes() override { return 0; }

  int schema_version() const override { return 1; }
  absl::Status Backup(const std::string& path) override;

 private:
  struct Run {
    RunRow row;
    int created = 0;  // order
    std::vector<Arrival> arrivals;
    std::set<std::string> arrived_refs;
    std::vector<v1::RunEvent> events;
    std::vector<v1::WorldModel> models;
    std::vector<CandidateRow> candidates;
    std::map<std::string, std::string> requests;  // job_id -> tag
    std::map<std::string, LedgerRow> ledger;      // by scope
  };

  // The real store's rules, for one run.
  static absl::Status Reserve(Run* run, const LlmCallRow& call);
  static void Settle(Run* run, const LlmCallRow& reserved, int64_t tokens, int64_t nano);

  absl::StatusOr<Run*> FindRun(const std::string& run_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Adds the arrival unless it is there; true if added.
  static bool AddArrival(Run* run, Arrival::Kind kind, const std::string& ref,
                         const std::string& tag);
  void NoteTaskEvidence(const v1::JobResult& result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Tell(const std::vector<std::string>& run_ids);

  std::atomic<int> run_reads_{0};

  mutable Mutex mu_;
  std::function<void(const std::string&)> listener_;  // set before use
  EventListener event_listener_;                      // likewise
  // Created for each call: a Status shared between threads looks like a race to ThreadSanitizer,
  // since the distribution's Abseil is not instrumented.
  absl::Status WriteFailure() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return absl::Status(failure_code_, failure_message_);
  }
  absl::StatusCode failure_code_ ABSL_GUARDED_BY(mu_) = absl::StatusCode::kOk;
  std::string failure_message_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Run> runs_ ABSL_GUARDED_BY(mu_);
  std::vector<v1::FeedEntry> all_events_ ABSL_GUARDED_BY(mu_);  // cursor - 1 -> entry
  std::map<std::string, LlmCallRow> calls_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, v1::JobSpec> jobs_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, v1::JobResult> results_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> result_order_ ABSL_GUARDED_BY(mu_);            // job ids
  std::map<std::string, TaskFaultRow> task_faults_ ABSL_GUARDED_BY(mu_);  // by EvidenceKey
  std::map<std::pair<std::string, std::string>, AttemptRow> attempts_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::string> blobs_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, v1::WorkerStatus> workers_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::string> owners_ ABSL_GUARDED_BY(mu_);
  std::vector<v1::MeasuredGain> gains_ ABSL_GUARDED_BY(mu_);  // oldest first
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_FAKE_STORE_H_

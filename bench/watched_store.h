#ifndef KSEARCH_BENCH_WATCHED_STORE_H_
#define KSEARCH_BENCH_WATCHED_STORE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "coordinator/store/store.h"

namespace ksearch {

// Measures how long steps wait for the store: a store that forwards everything and times the waits
// of a step's thread between commits. Thread-safe.
class WatchedStore final : public Store {
 public:
  struct Wait {
    absl::Duration commit;  // until the step was committed
    absl::Duration reads;   // of all that the step read before
  };

  explicit WatchedStore(std::unique_ptr<Store> store) : store_(std::move(store)) {}

  // Those since the last call.
  std::vector<Wait> TakeWaits() {
    MutexLock lock(&mu_);
    return std::exchange(waits_, {});
  }

  absl::Status CommitStep(const StepCommit& step) override {
    const absl::Time start = Clock::Real().SteadyNow();
    absl::Status status = store_->CommitStep(step);
    const absl::Duration commit = Clock::Real().SteadyNow() - start;
    MutexLock lock(&mu_);
    waits_.push_back({commit, std::exchange(Reads(), absl::ZeroDuration())});
    return status;
  }

  // ---- reads of a step
  absl::StatusOr<std::vector<Arrival>> ReadArrivals(const std::string& run_id, int64_t after_seq,
                                                    int limit) override {
    return Clocked([&] { return store_->ReadArrivals(run_id, after_seq, limit); });
  }
  absl::StatusOr<CandidateRow> ReadCandidate(const std::string& run_id,
                                             const std::string& prefix) override {
    return Clocked([&] { return store_->ReadCandidate(run_id, prefix); });
  }
  absl::StatusOr<std::vector<LedgerRow>> ReadLedger(const std::string& run_id) override {
    return Clocked([&] { return store_->ReadLedger(run_id); });
  }
  absl::StatusOr<LlmCallRow> ReadCall(const std::string& call_id) override {
    return Clocked([&] { return store_->ReadCall(call_id); });
  }
  absl::StatusOr<std::optional<v1::JobResult>> ReadResult(const std::string& job_id) override {
    return Clocked([&] { return store_->ReadResult(job_id); });
  }
  absl::StatusOr<v1::JobSpec> ReadJob(const std::string& job_id) override {
    return Clocked([&] { return store_->ReadJob(job_id); });
  }
  absl::StatusOr<std::vector<v1::JobResult>> ReadResultsOf(
      const std::string& run_id, const std::string& candidate_id) override {
    return Clocked([&] { return store_->ReadResultsOf(run_id, candidate_id); });
  }

  // ---- the rest
  void SetArrivalListener(std::function<void(const std::string& run_id)> listener) override {
    store_->SetArrivalListener(std::move(listener));
  }
  void SetEventListener(EventListener listener) override {
    store_->SetEventListener(std::move(listener));
  }
  absl::StatusOr<std::string> CreateRun(const RunRow& run) override {
    return store_->CreateRun(run);
  }
  absl::StatusOr<RunRow> ReadRun(const std::string& run_id) override {
    return store_->ReadRun(run_id);
  }
  absl::StatusOr<v1::RunStatus> ReadRunStatus(const std::string& run_id) override {
    return store_->ReadRunStatus(run_id);
  }
  absl::StatusOr<std::string> ResolveRun(const std::string& prefix) override {
    return store_->ResolveRun(prefix);
  }
  absl::StatusOr<std::vector<v1::RunStatus>> ListRuns() override { return store_->ListRuns(); }
  absl::StatusOr<std::vector<v1::RunEvent>> ReadEvents(const std::string& run_id, int64_t after_seq,
                                                       int limit) override {
    return store_->ReadEvents(run_id, after_seq, limit);
  }
  absl::StatusOr<std::vector<v1::FeedEntry>> ReadAllEvents(int64_t after_cursor,
                                                           int limit) override {
    return store_->ReadAllEvents(after_cursor, limit);
  }
  absl::StatusOr<int64_t> ReadNewestCursor() override { return store_->ReadNewestCursor(); }
  absl::StatusOr<v1::WorldModel> ReadWorldModel(const std::string& run_id,
                                                int64_t revision) override {
    return store_->ReadWorldModel(run_id, revision);
  }
  absl::StatusOr<std::vector<CandidateRow>> ListCandidates(const std::string& run_id) override {
    return store_->ListCandidates(run_id);
  }
  void RecordSend(const std::string& call_id,
                  absl::AnyInvocable<void(absl::Status)> done) override {
    store_->RecordSend(call_id, std::move(done));
  }
  void RecordReply(const LlmCallRow& call, absl::AnyInvocable<void(absl::Status)> done) override {
    store_->RecordReply(call, std::move(done));
  }
  void SaveProviderState(const std::string& call_id, const std::string& state,
                         absl::AnyInvocable<void(absl::Status)> done) override {
    store_->SaveProviderState(call_id, state, std::move(done));
  }
  absl::StatusOr<std::vector<LlmCallRow>> ReadUnansweredCalls(const std::string& run_id) override {
    return store_->ReadUnansweredCalls(run_id);
  }
  absl::Status AddJob(const std::string& job_id, const v1::JobSpec& spec) override {
    return store_->AddJob(job_id, spec);
  }
  absl::StatusOr<std::vector<QueuedJob>> ReadUnfinishedJobs() override {
    return store_->ReadUnfinishedJobs();
  }
  void RecordResult(
      const v1::JobResult& result, const std::string& lease_id,
      absl::AnyInvocable<void(absl::StatusOr<v1::RecordResultReply::Disposition>)> done) override {
    store_->RecordResult(result, lease_id, std::move(done));
  }
  void RecordAttempt(const AttemptRow& attempt,
                     absl::AnyInvocable<void(absl::Status)> done) override {
    store_->RecordAttempt(attempt, std::move(done));
  }
  absl::StatusOr<std::vector<TaskFaultRow>> ReadTaskFaults() override {
    return store_->ReadTaskFaults();
  }
  absl::StatusOr<std::vector<ResultRow>> ListResults(const std::string& task_name, int64_t before,
                                                     int limit) override {
    return store_->ListResults(task_name, before, limit);
  }
  absl::Status PutBlob(const std::string& sha256, const std::string& bytes) override {
    return store_->PutBlob(sha256, bytes);
  }
  absl::StatusOr<std::string> ReadBlob(const std::string& sha256) override {
    return store_->ReadBlob(sha256);
  }
  absl::Status UpsertWorker(const v1::WorkerHello& hello, const std::string& owner,
                            absl::Time seen) override {
    return store_->UpsertWorker(hello, owner, seen);
  }
  absl::StatusOr<std::vector<v1::WorkerStatus>> ListWorkers() override {
    return store_->ListWorkers();
  }
  absl::StatusOr<std::map<std::string, std::string>> ReadWorkerOwners() override {
    return store_->ReadWorkerOwners();
  }
  absl::StatusOr<std::vector<v1::MeasuredGain>> ReadGains(const GainFilter& filter,
                                                          int limit) override {
    return store_->ReadGains(filter, limit);
  }
  absl::StatusOr<int64_t> ForgetGains(const GainFilter& filter) override {
    return store_->ForgetGains(filter);
  }
  absl::StatusOr<bool> RemoveRun(const std::string& run_id, int64_t last_event_seq) override {
    return store_->RemoveRun(run_id, last_event_seq);
  }
  absl::Status RemoveBlobs(const std::vector<std::string>& names) override {
    return store_->RemoveBlobs(names);
  }
  absl::StatusOr<int64_t> ReadReusableBytes() override { return store_->ReadReusableBytes(); }
  int schema_version() const override { return store_->schema_version(); }
  absl::Status Backup(const std::string& path) override { return store_->Backup(path); }

 private:
  // Of the calling thread, since its last commit.
  static absl::Duration& Reads() {
    thread_local absl::Duration reads;
    return reads;
  }
  template <typename Read>
  auto Clocked(Read read) -> decltype(read()) {
    const absl::Time start = Clock::Real().SteadyNow();
    auto rows = read();
    Reads() += Clock::Real().SteadyNow() - start;
    return rows;
  }

  const std::unique_ptr<Store> store_;
  Mutex mu_;
  std::vector<Wait> waits_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_BENCH_WATCHED_STORE_H_

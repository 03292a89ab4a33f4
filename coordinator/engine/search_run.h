#ifndef KSEARCH_COORDINATOR_ENGINE_SEARCH_RUN_H_
#define KSEARCH_COORDINATOR_ENGINE_SEARCH_RUN_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "coordinator/engine/arrival_order.h"
#include "coordinator/engine/budget_gate.h"
#include "coordinator/engine/event_detail.h"
#include "coordinator/engine/incumbent_tracker.h"
#include "coordinator/engine/job_sink.h"
#include "coordinator/engine/job_specs.h"
#include "coordinator/engine/model_caller.h"
#include "coordinator/engine/run_platform.h"
#include "coordinator/search/search_strategy.h"
#include "coordinator/store/store.h"
#include "proto/run_state.pb.h"

namespace ksearch {

// One run: applies arrivals to the strategy and the incumbent tracker, one committed step each, and
// carries out what they request. It makes no decisions about the search.
//
// Every step is one transaction (state, cursor, calls, candidates, jobs, events); calls are sent
// and jobs submitted after it. A process killed between two steps loses nothing: after a restart,
// Begin() resends what was committed but not answered. Thread-compatible; used by one thread.
class SearchRun {
 public:
  // Borrows everything; `row` as read from the store.
  struct Parts {
    Store* store;
    JobSink* jobs;
    ModelCaller* models;
    const Clock* clock;
    // Null: the run's platform is what its config says.
    PlatformSource platforms = nullptr;
  };
  // `strategy` was made from `context`, whose config.rounds and config.budget are those in force.
  // `order` may be empty (natural order). DATA_LOSS: the saved state is unreadable.
  static absl::StatusOr<std::unique_ptr<SearchRun>> Create(const Parts& parts, const RunRow& row,
                                                           SearchContext context,
                                                           std::unique_ptr<SearchStrategy> strategy,
                                                           std::vector<std::string> order);

  // Starts or continues the run. Call once, first.
  absl::Status Begin();
  enum class Progress { kWaiting, kApplied, kEnded };
  // Applies the next arrival, if its turn has come, in one committed step. kWaiting: there is none
  // yet; kEnded: the run's final status is committed.
  absl::StatusOr<Progress> ApplyNext();
  // Applies a person's change in one committed step. `refusal`: OK, or why nothing has changed
  // (SearchStrategy::OnSteered). The returned status says whether the step could be committed; if
  // not, the run cannot continue in this object. Idempotent by request_id.
  absl::Status Steer(const v1::SteerRunRequest& change, absl::Status* refusal);
  // What was requested and has not been applied.
  struct Awaited {
    std::vector<std::string> calls;  // ids
    int evaluations = 0;
  };
  Awaited awaited() const;
  // Commits a final status: stopped by request, or failed with a reason. The state stays as last
  // committed, so that a step that failed halfway is repeated when the run is resumed. Must be the
  // last call.
  absl::Status End(v1::RunState state, const std::string& reason);
  // Cancels jobs that no worker has yet and calls that are queued; a resumed run starts them again.
  // To be called after End.
  absl::Status CancelWaiting();

  const v1::RunStatus& status() const { return status_; }
  const SearchContext& context() const { return context_; }
  // Returns true if the run has never begun and follows no recorded order, so that it is unknown
  // whether its task works.
  bool unproven() const { return fresh_ && !replays_; }
  // The platform of its scores; empty until it is known.
  const v1::Platform& platform() const { return state_.platform(); }
  // Returns true if jobs are waiting for a worker whose platform will become the run's; ApplyNext
  // looks for one.
  bool awaits_platform() const { return state_.unplaced_jobs_size() > 0; }

 private:
  SearchRun(const Parts& parts, const RunRow& row, SearchContext context,
            std::unique_ptr<SearchStrategy> strategy, BudgetGate gate);

  // Decides on the run's platform as soon as that is possible, and then requests the jobs that
  // waited for it. OK also while it is not possible.
  absl::Status FindPlatform();
  // Requests the job on the run's platform once that is known. Returns the job's id, or "" until
  // then.
  absl::StatusOr<std::string> Hold(const std::string& tag, v1::JobSpec spec);
  absl::StatusOr<std::string> Place(const std::string& tag, v1::JobSpec spec);
  // Continues the work of an earlier process: resends calls without a reply, or submits them for
  // admission again.
  absl::Status ResumeCalls();
  absl::Status ResumeJobs();
  absl::Status Apply(const Arrival& arrival);
  absl::Status FoldReply(const Arrival& arrival);
  absl::Status FoldResult(const Arrival& arrival);
  // Requests a job again on the run's own platform if it was done on another one.
  absl::Status Repeat(const Arrival& arrival, const v1::JobResult& result);
  absl::Status FoldExamination(const std::string& tag, const std::string& job_id,
                               const v1::JobResult& result);
  absl::Status FoldConfirmation(const std::string& tag, const v1::JobResult& result);
  // Turns a strategy's output into rows of `pending_`.
  absl::Status Take(const StepOutput& output);
  // Called for a screened candidate that is not refused, which may be worth a confirmation.
  absl::Status Challenge(const CandidateRow& candidate, const v1::JobResult& screened);
  absl::Status TakeTrackerStep(const IncumbentTracker::Step& step);
  void AddEvent(v1::RunEvent event);
  // Fills in the details of the events of `pending_`; status_ is as of its end.
  void DescribeEvents();
  // Adds what a screened candidate brought to the memory of gains, or takes it out of it again.
  bool remembers() const;
  absl::Status RememberGain(const CandidateRow& candidate, const v1::JobResult& result);
  void ForgetGain(const std::string& candidate_id);
  // The screening of a program of this run, with its profile; nullopt: there is none.
  absl::StatusOr<std::optional<v1::JobResult>> ReadParent(const std::string& candidate_id) const;
  // Credits the models' arms with what the call of a screened candidate brought.
  absl::Status NoteGain(const CandidateRow& candidate, const v1::JobResult& result);
  // Admits what the budget allows, commits `pending_` with the new state, and then sends calls and
  // submits jobs.
  absl::Status Commit();
  // `strategy_state`: as SearchStrategy::Save returned it; the same afterwards.
  absl::Status CommitOnce(bool closed, std::string* strategy_state);
  // Marks the run finished or failed once nothing is outstanding, and out of budget once all that
  // is outstanding waits for a cap to be raised.
  void EndIfDone(const std::string& blocked);
  void SetEnded(v1::RunState state, const std::string& reason);
  void CountWallTime();
  void FillStatus(const std::vector<LedgerRow>& ledger);

  const Parts parts_;
  const std::string run_id_;
  const SearchContext context_;
  const JobSpecs specs_;
  const std::unique_ptr<SearchStrategy> strategy_;
  const BudgetGate gate_;
  IncumbentTracker tracker_;
  ArrivalOrder order_;
  // Between steps without the strategy's state, which is the longest part of it by far.
  v1::RunEngineState state_;
  v1::RunStatus status_;
  int64_t cursor_ = 0;
  StepCommit pending_;
  StepCause cause_;  // of pending_
  // As last committed.
  std::string committed_state_;
  v1::RunStatus committed_status_;
  int64_t committed_cursor_ = 0;
  absl::Time counted_;    // steady clock: wall time is counted up to here
  bool replays_ = false;  // a recorded order
  bool fresh_ = true;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_SEARCH_RUN_H_

#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_REGISTRY_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_REGISTRY_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "coordinator/engine/run_config_resolver.h"
#include "coordinator/engine/search_run.h"
#include "coordinator/engine/task_admission.h"
#include "coordinator/ledger/price_book.h"
#include "coordinator/tasks/task_suite.h"
#include "proto/config.pb.h"

namespace ksearch {

// The runs of this coordinator. Each active run has its own thread. Thread-safe.
class RunRegistry {
 public:
  struct Parts {
    Store* store;
    JobSink* jobs;
    ModelCaller* models;
    const TaskSuite* tasks;
    const Clock* clock;
    v1::RunConfig defaults;
    // The names of such devices of connected workers, for prompts; `model`: only of this model,
    // empty: of any.
    std::function<std::string(v1::DeviceClass, const std::string& model)> target_hardware;
    const PriceBook* prices;
    absl::Duration store_retry = absl::Seconds(2);  // until a failed write is tried again
    // Null: problems of a task show only with a run's first candidate.
    TaskAdmission* admission = nullptr;
    // Null: a run's platform is the one that its config asks for.
    PlatformSource platforms = nullptr;
  };
  explicit RunRegistry(Parts parts);
  // Stops every thread between two steps; the runs stay RUNNING and continue after a restart.
  ~RunRegistry();

  // Continues every run that was active when the last coordinator ended.
  absl::Status ResumeInterrupted();
  // Idempotent by request_id. Returns the run id.
  absl::StatusOr<std::string> Start(const std::string& request_id, const v1::RunConfig& request);
  // Estimates the run that Start would begin for the same request, with all defaults filled in and
  // models and prices looked up.
  absl::StatusOr<v1::RunEstimate> Estimate(const v1::RunConfig& request) const;
  // The job by which such a run would screen a candidate, without sources: a worker that can do it
  // can do the run's work. nullopt: the run repeats a recorded one, which may need no worker. Fails
  // like Start.
  absl::StatusOr<std::optional<v1::JobSpec>> ScreeningJob(const v1::RunConfig& request) const;
  // Blocks until the run has stopped (at most one step). No effect on a run that has ended.
  absl::Status Stop(const std::string& run_id);
  // `rounds`: new total budget, 0 = unchanged; caps in `budget` replace those in force.
  // Returns once the run has begun again, or after a few seconds. FAILED_PRECONDITION: the run
  // ended at a limit that neither raises, or one of its providers cannot be used; the run is as it
  // was.
  absl::Status Resume(const std::string& run_id, int rounds, const v1::Budget& budget);

  // Applies a person's change to an active run; returns once it is committed (SearchRun::Steer).
  // FAILED_PRECONDITION: the run is not active. UNAVAILABLE: its thread did not get to it within
  // `patience`; the change may or may not have been made, so repeat the request with the same
  // request_id.
  absl::Status Steer(const std::string& run_id, const v1::SteerRunRequest& change,
                     absl::Duration patience = absl::Seconds(10));

  // The state of the active runs.
  struct Standing {
    bool any_yet = false;  // a run has been active in this process
    int active = 0;        // have not ended
    // Every active run waits for something; then `awaited` is what they wait for, together.
    bool all_wait = true;
    SearchRun::Awaited awaited;
  };
  Standing standing();

  // Something arrived for the run.
  void Wake(const std::string& run_id);
  // Returns when more than `seen` steps of the run were committed (the end of its thread counts as
  // one), when the registry closes, or at the timeout. Returns the current number of steps.
  int64_t WaitForStep(const std::string& run_id, int64_t seen, absl::Duration timeout);

 private:
  // A change that waits for the run's thread; shared by that thread and the requesting one.
  struct Change {
    v1::SteerRunRequest request;
    std::optional<absl::Status> outcome;
  };
  struct ActiveRun {
    CondVar* changed = nullptr;  // of its run, in changed_
    std::thread thread;
    bool wake = false;
    bool stop = false;
    bool ended = false;
    bool begun = false;    // its first step in this process was tried
    bool waiting = false;  // for `awaited`, unless `wake`
    SearchRun::Awaited awaited;
    int64_t steps = 0;
    std::deque<std::shared_ptr<Change>> changes;  // oldest first
  };

  // The limits that a resume requests; 0 and absent caps mean unchanged.
  struct Limits {
    int rounds = 0;
    v1::Budget budget;
  };

  // Returns true if the baseline can be timed before the first prompt: some worker could do it, or
  // the times are recorded.
  bool CanTimeBaseline(const SearchContext& context) const;
  absl::StatusOr<SearchContext> LoadContext(const RunRow& row, const Limits& limits) const;
  absl::StatusOr<std::unique_ptr<SearchRun>> LoadRun(const std::string& run_id,
                                                     const Limits& limits) const;
  // No effect if it is active already.
  absl::Status Launch(const std::string& run_id, const Limits& limits);
  // Ends a run that could not be launched.
  void RecordFailure(const std::string& run_id, const absl::Status& why);
  // The body of a run's thread. A write that fails on a full disk is tried again until there is
  // space, the run is stopped, or this closes.
  void Loop(const std::string& run_id, const Limits& limits, ActiveRun* active,
            std::unique_ptr<SearchRun> run);
  // Tries the task's programs if the run is new, begins the run, and processes arrivals until the
  // run ends (true), or until it must stop or this object closes (false).
  absl::StatusOr<bool> Drive(ActiveRun* active, SearchRun* run);
  // Commits the waiting changes; an error ends Drive.
  absl::Status TakeChanges(ActiveRun* active, SearchRun* run);
  // SearchRun::End, retried for as long as necessary.
  absl::Status End(const ActiveRun& active, SearchRun* run, v1::RunState state,
                   const std::string& reason);
  // Waits until the next try. False if there must be no further try, because this object closes or,
  // if `stop_matters`, because the run must stop.
  bool Rest(const ActiveRun& active, bool stop_matters);

  const Parts parts_;
  const RunConfigResolver config_;
  Mutex launch_mu_;  // before mu_
  Mutex mu_;
  // One per run, so that waiters for one run are not woken by others. Entries stay, because
  // a caller may wait for a run that is not active.
  std::map<std::string, CondVar> changed_ ABSL_GUARDED_BY(mu_);
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  std::map<std::string, std::unique_ptr<ActiveRun>> active_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_REGISTRY_H_

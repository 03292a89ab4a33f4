#ifndef KSEARCH_COORDINATOR_SCHEDULER_LEASING_SCHEDULER_H_
#define KSEARCH_COORDINATOR_SCHEDULER_LEASING_SCHEDULER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/fair_turns.h"
#include "common/rng.h"
#include "coordinator/scheduler/job_queue.h"
#include "coordinator/scheduler/job_scheduler.h"
#include "coordinator/scheduler/job_times.h"
#include "coordinator/scheduler/known_worker.h"
#include "coordinator/scheduler/lease_table.h"
#include "coordinator/scheduler/open_workers.h"
#include "coordinator/scheduler/placement.h"
#include "coordinator/scheduler/task_standing.h"

namespace ksearch {

// The one JobScheduler. A job is queued or has exactly one live lease; one that is done, given up
// or cancelled is forgotten but for its id.
class LeasingScheduler final : public JobScheduler {
 public:
  explicit LeasingScheduler(Options options);

  SchedulerEffects SubmitFor(const std::string& run_id, const std::string& job_id,
                             const v1::JobSpec& spec, int attempts, absl::Time now) override;
  void SetPriority(const std::string& run_id, int priority) override {
    turns_.SetPriority(run_id, priority);
  }
  SchedulerEffects Cancel(const std::string& job_id) override;
  SchedulerEffects MarkDone(const std::string& job_id, const std::string& lease_id) override;
  void ForgetDone(const std::string& job_id) override { done_.erase(job_id); }
  SchedulerEffects NoteResult(const std::string& job_id, const v1::JobResult& result) override;
  void RememberResult(const v1::JobSpec& spec, const v1::JobResult& result) override {
    tasks_.Note(spec, result);
  }
  SchedulerEffects Hello(const v1::WorkerHello& hello, absl::Time now) override;
  SchedulerEffects Sync(const std::string& worker_id, const v1::WorkerReport& report,
                        absl::Time now, v1::WorkerDown* down) override;
  bool Poll(const std::string& worker_id, absl::Time now, v1::WorkerDown* down,
            SchedulerEffects* effects) override;
  void Disconnect(const std::string& worker_id, const std::string& incarnation) override;
  void Drain(const std::string& worker_id, std::optional<absl::Duration> grace) override;
  SchedulerEffects Tick(absl::Time now) override;

  JobState State(const std::string& job_id) const override;
  int queued() const override { return queue_.size(); }
  int leased() const override { return static_cast<int>(jobs_.size()) - queue_.size(); }
  bool CanPlace(const v1::JobSpec& spec) const override;
  std::vector<RequirementDemand> Demand(const std::vector<Requirement>& also,
                                        absl::Time now) const override;
  int idle_slots() const override;

 private:
  enum class Ending { kLost, kReturned };
  struct Ended {
    Ending ending = Ending::kLost;
    bool counted = false;  // as a loss or return; not so if the worker was leaving
  };
  // Why a worker gets a job last, or later.
  struct Avoided {
    int returns = 0;
    absl::Time not_before = absl::InfinitePast();
    absl::Time since;
  };
  struct Job {
    v1::JobSpec spec;
    Requirement requirement;
    Turn turn;
    absl::Time since;        // submitted
    int attempts = 0;        // highest attempt number so far
    int earlier_losses = 0;  // from before a restart of the coordinator
    int losses = 0;
    int returns = 0;
    std::string lease_id;  // the live lease; empty = queued
    absl::Time not_before = absl::InfinitePast();
    std::map<std::string, Avoided> avoided;                // by worker
    absl::flat_hash_map<std::string, Ended> ended_leases;  // since the start
  };

  // Folds one reported lease.
  void FoldHeld(const std::string& worker_id, const v1::HeldLease& held, absl::Time now,
                v1::WorkerDown* down, SchedulerEffects* effects);
  // One that is not in the table: taken back if the job still waits, else cancelled.
  void FoldUnknown(const std::string& worker_id, const v1::HeldLease& held, absl::Time now,
                   v1::WorkerDown* down, SchedulerEffects* effects);
  void Adopt(const std::string& worker_id, const v1::HeldLease& held, absl::Time now,
             SchedulerEffects* effects);
  // Removes the lease; the job goes back to the queue or is given up. `leaving`: the worker goes
  // away, which counts against nobody.
  void EndLease(const std::string& lease_id, Ending ending, bool leaving, absl::string_view note,
                absl::Time now, SchedulerEffects* effects);
  void Requeue(const std::string& job_id, const std::string& worker_id, Ending ending, bool leaving,
               absl::string_view note, absl::Time now, SchedulerEffects* effects);
  // Detaches the job's live lease, whose worker is told to stop.
  void CancelLease(const Job& job, absl::string_view note, SchedulerEffects* effects);
  void Forget(const std::string& job_id, bool done);

  // Ends a job as its task's fault.
  void EndAsFaulty(const std::string& job_id, int attempts, const std::string& fault,
                   SchedulerEffects* effects);
  // Jobs for the worker, in order of their turns, as far as `credits` go. `fair`: of a task that
  // nothing is known of no second one at a time.
  void Choose(const std::string& worker_id, const KnownWorker& worker, int credits, bool fair,
              absl::Time now, std::vector<std::string>* chosen, SchedulerEffects* effects);
  // Whether a job of the task is with a worker or chosen for one.
  bool IsOut(const v1::JobSpec& spec, const std::vector<std::string>& chosen) const;
  // Adds offers as far as credits go.
  void Offer(const std::string& worker_id, KnownWorker* worker, absl::Time now,
             v1::WorkerDown* down, SchedulerEffects* effects);
  bool MayTry(const Job& job, const std::string& worker_id, absl::Time now) const;
  // Whether the job is expected to end before the worker leaves.
  bool HasTimeFor(const KnownWorker& worker, const v1::JobSpec& spec, absl::Time now) const;
  bool IsLeaving(const std::string& worker_id, absl::Time now) const;
  // A worker other than `than` with fewer leases that could take the job now; empty if none.
  // `planned` counts jobs already left to others.
  std::string IdlerWorker(const Job& job, const std::string& than, int load, absl::Time now,
                          const std::map<std::string, int>& planned) const;
  // Wakes the best worker for a job that became available.
  void WakeFor(const Job& job, absl::Time now, SchedulerEffects* effects) const;
  int LoadOf(const std::string& worker_id) const;
  // Call this whenever the worker's leases, credits or willingness may have changed.
  void Reindex(const std::string& worker_id);
  // A job's place in the queue, and the count of its task's.
  void Enqueue(const std::string& job_id, const Job& job);
  void Dequeue(const Job& job);  // if it waits
  // Completes and numbers a directive that says something, or any if `always`; false otherwise.
  bool Seal(KnownWorker* worker, bool always, v1::WorkerDown* down);

  const Options options_;
  Rng jitter_;
  int64_t next_lease_ = 1;
  absl::Time now_ = absl::InfinitePast();  // newest time seen
  absl::flat_hash_map<std::string, Job> jobs_;
  JobQueue queue_;
  FairTurns turns_;
  LeaseTable leases_;
  TaskStanding tasks_;
  JobTimes times_;
  std::map<std::string, KnownWorker> workers_;
  OpenWorkers open_;
  absl::flat_hash_map<std::string, int> queued_of_task_;  // no count is 0
  absl::flat_hash_set<std::string> done_;
  std::deque<std::string> done_order_;  // oldest first; bounds done_
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_LEASING_SCHEDULER_H_

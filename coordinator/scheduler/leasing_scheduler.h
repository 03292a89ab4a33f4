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

// The production JobScheduler. A job is either queued or has exactly one live lease. Of a job that
// is done, given up or cancelled only the id is kept.
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
    bool counted = false;  // as a loss or a return; false if the worker was leaving
  };
  // Why a job is offered to a worker later than to others.
  struct Avoided {
    int returns = 0;
    absl::Time not_before = absl::InfinitePast();
    absl::Time since;
  };
  struct Job {
    v1::JobSpec spec;
    Requirement requirement;
    Turn turn;
    absl::Time since;        // when the job was submitted
    int attempts = 0;        // highest attempt number so far
    int earlier_losses = 0;  // from before a restart of the coordinator
    int losses = 0;
    int returns = 0;
    std::string lease_id;  // the live lease; empty = queued
    absl::Time not_before = absl::InfinitePast();
    std::map<std::string, Avoided> avoided;                // by worker
    absl::flat_hash_map<std::string, Ended> ended_leases;  // since the start
  };

  // Applies one lease of a report.
  void ApplyHeld(const std::string& worker_id, const v1::HeldLease& held, absl::Time now,
                 v1::WorkerDown* down, SchedulerEffects* effects);
  // Applies a reported lease that is not in the table: adopts it if the job still waits, and
  // cancels it otherwise.
  void ApplyUnknown(const std::string& worker_id, const v1::HeldLease& held, absl::Time now,
                    v1::WorkerDown* down, SchedulerEffects* effects);
  void Adopt(const std::string& worker_id, const v1::HeldLease& held, absl::Time now,
             SchedulerEffects* effects);
  // Removes the lease, and requeues the job or gives it up. `leaving`: the worker goes away, so the
  // end counts neither against the job nor against the worker.
  void EndLease(const std::string& lease_id, Ending ending, bool leaving, absl::string_view note,
                absl::Time now, SchedulerEffects* effects);
  void Requeue(const std::string& job_id, const std::string& worker_id, Ending ending, bool leaving,
               absl::string_view note, absl::Time now, SchedulerEffects* effects);
  // Detaches the job's live lease and tells its worker to stop.
  void CancelLease(const Job& job, absl::string_view note, SchedulerEffects* effects);
  void Forget(const std::string& job_id, bool done);

  // Ends a job with the fault of its task.
  void EndAsFaulty(const std::string& job_id, int attempts, const std::string& fault,
                   SchedulerEffects* effects);
  // Chooses up to `credits` jobs for the worker in order of their turns. `fair`: at most one job at
  // a time of a task with no known result.
  void Choose(const std::string& worker_id, const KnownWorker& worker, int credits, bool fair,
              absl::Time now, std::vector<std::string>* chosen, SchedulerEffects* effects);
  // Returns true if a job of the task is leased or among `chosen`.
  bool IsOut(const v1::JobSpec& spec, const std::vector<std::string>& chosen) const;
  // Adds as many offers to `down` as the worker has credits.
  void Offer(const std::string& worker_id, KnownWorker* worker, absl::Time now,
             v1::WorkerDown* down, SchedulerEffects* effects);
  bool MayTry(const Job& job, const std::string& worker_id, absl::Time now) const;
  // Returns true if the job is expected to end before the worker leaves.
  bool HasTimeFor(const KnownWorker& worker, const v1::JobSpec& spec, absl::Time now) const;
  bool IsLeaving(const std::string& worker_id, absl::Time now) const;
  // Returns a worker other than `than` that has fewer leases and could take the job now, or "" if
  // there is none. `planned` counts the jobs already left to other workers.
  std::string IdlerWorker(const Job& job, const std::string& than, int load, absl::Time now,
                          const std::map<std::string, int>& planned) const;
  // Wakes the best worker for a job that has become available.
  void WakeFor(const Job& job, absl::Time now, SchedulerEffects* effects) const;
  int LoadOf(const std::string& worker_id) const;
  // Must be called whenever the worker's leases, credits or readiness for jobs may have changed.
  void Reindex(const std::string& worker_id);
  // Adds the job to the queue and to the count of its task.
  void Enqueue(const std::string& job_id, const Job& job);
  void Dequeue(const Job& job);  // no effect if the job is not queued
  // Completes and numbers a directive that is not empty, or any directive if `always`. Returns
  // false otherwise.
  bool Seal(KnownWorker* worker, bool always, v1::WorkerDown* down);

  const Options options_;
  Rng jitter_;
  int64_t next_lease_ = 1;
  absl::Time now_ = absl::InfinitePast();  // latest time passed in
  absl::flat_hash_map<std::string, Job> jobs_;
  JobQueue queue_;
  FairTurns turns_;
  LeaseTable leases_;
  TaskStanding tasks_;
  JobTimes times_;
  std::map<std::string, KnownWorker> workers_;
  OpenWorkers open_;
  absl::flat_hash_map<std::string, int> queued_of_task_;  // never holds a count of 0
  absl::flat_hash_set<std::string> done_;
  std::deque<std::string> done_order_;  // oldest first; limits the size of done_
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_LEASING_SCHEDULER_H_

#ifndef KSEARCH_COORDINATOR_SCHEDULER_JOB_SCHEDULER_H_
#define KSEARCH_COORDINATOR_SCHEDULER_JOB_SCHEDULER_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "coordinator/scheduler/placement.h"
#include "coordinator/scheduler/requirement_demand.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// What the scheduler wants done by its owner after a call: rows to write, sessions to wake.
struct AttemptEnded {
  std::string job_id;
  int attempt = 0;
  std::string worker_id;
  std::string lease_id;
  std::string ended;  // "lost", "returned", "cancelled"
  std::string note;
};

struct AttemptStarted {
  std::string job_id;
  int attempt = 0;
  std::string worker_id;
  std::string lease_id;
};

// A job that ends without a result of its own.
struct GivenUp {
  std::string job_id;
  int attempts = 0;  // how many it had
  std::string note;  // what became of the last one, or what is wrong with its task
  v1::Outcome outcome = v1::OUTCOME_WORKER_LOST;
};

struct SchedulerEffects {
  std::vector<AttemptStarted> started;  // again for a lease that was taken back: rows are upserted
  std::vector<AttemptEnded> ended;
  std::vector<GivenUp> worker_lost_jobs;     // attempts used up: record OUTCOME_WORKER_LOST
  std::vector<GivenUp> faulty_task_jobs;     // of a faulty task: record OUTCOME_TASK_ERROR
  std::vector<std::string> workers_to_wake;  // something to tell them: Poll them now; each once

  void Wake(const std::string& worker_id) {
    if (std::find(workers_to_wake.begin(), workers_to_wake.end(), worker_id) ==
        workers_to_wake.end()) {
      workers_to_wake.push_back(worker_id);
    }
  }
};

struct JobState {
  enum class Phase { kUnknown, kQueued, kLeased, kDone };
  Phase phase = Phase::kUnknown;
  std::string worker_id;
  v1::HeldLease::State lease_state = v1::HeldLease::STATE_UNSPECIFIED;
};

// Decides which worker tries which job. A pure state machine: no I/O, no clock, no threads; time
// comes in as monotonic `now`. Leases are soft state, rebuilt from reports. Design: style reference
// 2.6-2.7. Thread-compatible; its owner holds a lock.
class JobScheduler {
 public:
  struct Options {
    absl::Duration lease_ttl = absl::Seconds(30);
    absl::Duration report_interval = absl::Seconds(10);
    // So many lost workers end a job. Returned attempts, which are not the job's fault, are counted
    // apart and end it after kReturnsPerAttempt times as many.
    int max_attempts = 3;
    // A job that was tried before a restart of the coordinator is held back this long, so that the
    // worker that may still run it can reconnect and keep it (workers redial within 1 s).
    absl::Duration adoption_grace = absl::Seconds(2);
    // What a job is expected to take while nothing is known of its task and kind (JobTimes).
    absl::Duration default_job_time = absl::Minutes(2);
    // Makes lease ids unique across restarts of the coordinator.
    std::string epoch;
    uint64_t seed = 1;
  };

  static constexpr int kReturnsPerAttempt = 4;
  // A worker that leaves counts neither as lost nor as having returned its jobs.

  virtual ~JobScheduler() = default;

  // Queues a job; `attempts` already used up before a restart (it gets at least one more). Known or
  // done job: no effect; a cancelled one is queued again. Runs take fair turns, confirmations apart
  // from the rest (FairTurns); the jobs of one run are tried oldest first. A worker that lost or
  // returned the job gets it last.
  virtual SchedulerEffects SubmitFor(const std::string& run_id, const std::string& job_id,
                                     const v1::JobSpec& spec, int attempts, absl::Time now) = 0;
  // RunConfig.priority, for the jobs that the run asks for from now on.
  virtual void SetPriority(const std::string& run_id, int priority) = 0;
  // For a job of no run.
  SchedulerEffects Submit(const std::string& job_id, const v1::JobSpec& spec, int attempts,
                          absl::Time now) {
    return SubmitFor("", job_id, spec, attempts, now);
  }
  // No more attempts; a lease in flight is cancelled with the worker's next directive.
  virtual SchedulerEffects Cancel(const std::string& job_id) = 0;
  // A result row is committed for the job, brought by `lease_id` (empty: by no lease), late or not.
  // Another lease in flight for it is cancelled.
  virtual SchedulerEffects MarkDone(const std::string& job_id, const std::string& lease_id) = 0;

  // The job's result is no longer in the store (Store::RemoveRun): submitted again, it is a new
  // job.
  virtual void ForgetDone(const std::string& job_id) = 0;

  // What the result that is committed for the job says of its task; call before MarkDone. After an
  // OUTCOME_TASK_ERROR that is the task's own, all jobs of that task in that language end so,
  // waiting ones at once and later ones when they are submitted, until one with a salt (a
  // deliberate repetition) ends otherwise. Until a job of a task has shown that its programs work,
  // only one of its jobs is with the workers while jobs of other tasks wait. Also notes how long
  // the job took: no job is offered to a worker that is to leave before the job is expected to end.
  virtual SchedulerEffects NoteResult(const std::string& job_id, const v1::JobResult& result) = 0;

  // The same for a job from before a restart, with the result that it had then.
  virtual void RememberResult(const v1::JobSpec& spec, const v1::JobResult& result) = 0;

  // A session began. Its first report settles what is left of earlier sessions: leases it does not
  // list are lost (all running ones, if the worker is a new incarnation), results that survived a
  // restart on the worker's disk are not.
  virtual SchedulerEffects Hello(const v1::WorkerHello& hello, absl::Time now) = 0;
  // Folds a report and says what to send back. `down->directive_seq` is 0 if there is nothing to
  // say; else the directive must be sent, in the order of the numbers. The first report of a
  // session always gets an answer. Reports older than one already folded are ignored.
  virtual SchedulerEffects Sync(const std::string& worker_id, const v1::WorkerReport& report,
                                absl::Time now, v1::WorkerDown* down) = 0;
  // The same without a report: new offers, cancellations, drain; false if there is nothing to send.
  virtual bool Poll(const std::string& worker_id, absl::Time now, v1::WorkerDown* down,
                    SchedulerEffects* effects) = 0;
  // The stream ended; leases stay until their time is up. No effect for an older incarnation; the
  // caller takes care not to report the end of an older session of the same incarnation.
  virtual void Disconnect(const std::string& worker_id, const std::string& incarnation) = 0;
  // Finish within `grace` (absent: the worker's own) and leave; until the worker restarts. Poll it
  // afterwards. Again with another grace: that one holds.
  virtual void Drain(const std::string& worker_id, std::optional<absl::Duration> grace) = 0;
  // Expires leases. Call at least once a second.
  virtual SchedulerEffects Tick(absl::Time now) = 0;

  virtual JobState State(const std::string& job_id) const = 0;
  virtual int queued() const = 0;
  virtual int leased() const = 0;
  // Whether any connected, healthy worker could run the job, and stays long enough.
  virtual bool CanPlace(const v1::JobSpec& spec) const = 0;
  // What waits, by requirement; those of `also` are listed even if no job has them.
  virtual std::vector<RequirementDemand> Demand(const std::vector<Requirement>& also,
                                                absl::Time now) const = 0;
  // Free slots of all willing workers.
  virtual int idle_slots() const = 0;
};

std::unique_ptr<JobScheduler> MakeJobScheduler(JobScheduler::Options options);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_JOB_SCHEDULER_H_

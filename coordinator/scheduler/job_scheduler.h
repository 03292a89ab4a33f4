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

// What the owner of the scheduler must do after a call: write these rows and wake these sessions.
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

// A job that ends without a result from a worker.
struct GivenUp {
  std::string job_id;
  int attempts = 0;  // attempts that it had
  std::string note;  // how the last attempt ended, or the fault of its task
  v1::Outcome outcome = v1::OUTCOME_WORKER_LOST;
};

struct SchedulerEffects {
  // may repeat a lease that was adopted again: upsert the rows
  std::vector<AttemptStarted> started;
  std::vector<AttemptEnded> ended;
  std::vector<GivenUp> worker_lost_jobs;     // no attempts are left: record OUTCOME_WORKER_LOST
  std::vector<GivenUp> faulty_task_jobs;     // their task is faulty: record OUTCOME_TASK_ERROR
  std::vector<std::string> workers_to_wake;  // without repetition; call Poll for each of them now

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

// Decides which worker tries which job. A pure state machine without I/O, clock or threads; the
// caller passes monotonic time as `now`. Leases are soft state: after a restart they are rebuilt
// from the workers' reports. Thread-compatible; the owner holds a lock.
class JobScheduler {
 public:
  struct Options {
    absl::Duration lease_ttl = absl::Seconds(30);
    absl::Duration report_interval = absl::Seconds(10);
    // A job ends after this many lost workers. Attempts that workers returned are not the job's
    // fault: they are counted separately, and end the job after kReturnsPerAttempt times as many.
    int max_attempts = 3;
    // After a restart of the coordinator, a job that was tried before is held back for this long,
    // so that the worker that may still run it can reconnect and keep it. Workers redial within 1
    // s.
    absl::Duration adoption_grace = absl::Seconds(2);
    // Expected duration of a job while JobTimes has none for its task and kind.
    absl::Duration default_job_time = absl::Minutes(2);
    // Makes lease ids unique across restarts of the coordinator.
    std::string epoch;
    uint64_t seed = 1;
  };

  static constexpr int kReturnsPerAttempt = 4;
  // The worker left on purpose: the attempt counts neither as lost nor as returned.

  virtual ~JobScheduler() = default;

  // Queues a job. `attempts` is how many were used up before a restart; the job gets at least one
  // more. Does nothing if the job is known or done; a cancelled job is queued again. Runs take fair
  // turns, with confirmations counted separately (FairTurns); the jobs of one run are tried oldest
  // first. A worker that lost or returned the job is offered it only after all others.
  virtual SchedulerEffects SubmitFor(const std::string& run_id, const std::string& job_id,
                                     const v1::JobSpec& spec, int attempts, absl::Time now) = 0;
  // Sets RunConfig.priority for the jobs that the run submits from now on.
  virtual void SetPriority(const std::string& run_id, int priority) = 0;
  // The same for a job that belongs to no run.
  SchedulerEffects Submit(const std::string& job_id, const v1::JobSpec& spec, int attempts,
                          absl::Time now) {
    return SubmitFor("", job_id, spec, attempts, now);
  }
  // Stops further attempts. A lease in flight is cancelled with the worker's next directive.
  virtual SchedulerEffects Cancel(const std::string& job_id) = 0;
  // Tells the scheduler that a result of the job is committed. `lease_id` is the lease that brought
  // it, live or ended, or empty if there is none. Any other lease in flight for the job is
  // cancelled.
  virtual SchedulerEffects MarkDone(const std::string& job_id, const std::string& lease_id) = 0;

  // Tells the scheduler that the store no longer has the job's result (Store::RemoveRun): if the
  // job is submitted again, it is a new one.
  virtual void ForgetDone(const std::string& job_id) = 0;

  // Learns from a committed result; call it before MarkDone. If the result is an OUTCOME_TASK_ERROR
  // that is the task's own fault, all jobs of that task in that language end the same way: waiting
  // ones at once, later ones when they are submitted, until a job with a salt (a deliberate
  // repetition) ends otherwise. Until a job has shown that the task's programs work, workers get
  // one job of the task at a time while jobs of other tasks wait. The job's duration is recorded as
  // well: a job is not offered to a worker that will leave before the job is expected to end.
  virtual SchedulerEffects NoteResult(const std::string& job_id, const v1::JobResult& result) = 0;

  // The same for a job and its result from before a restart.
  virtual void RememberResult(const v1::JobSpec& spec, const v1::JobResult& result) = 0;

  // Begins a session. Its first report settles the leases of earlier sessions: those that it does
  // not list are lost, except results that survived a restart on the worker's disk. If the worker
  // is a new incarnation, all of its running leases are lost.
  virtual SchedulerEffects Hello(const v1::WorkerHello& hello, absl::Time now) = 0;
  // Applies a report and fills in the answer. `down->directive_seq` is 0 if there is nothing to
  // send; otherwise the caller must send the directive, in the order of these numbers. The first
  // report of a session always gets an answer. A report older than one already applied is ignored.
  virtual SchedulerEffects Sync(const std::string& worker_id, const v1::WorkerReport& report,
                                absl::Time now, v1::WorkerDown* down) = 0;
  // The same without a report: new offers, cancellations, drain. Returns false if there is nothing
  // to send.
  virtual bool Poll(const std::string& worker_id, absl::Time now, v1::WorkerDown* down,
                    SchedulerEffects* effects) = 0;
  // The stream of a session ended; its leases stay until they expire. Does nothing for an older
  // incarnation. The caller must not report the end of an older session of the same incarnation.
  virtual void Disconnect(const std::string& worker_id, const std::string& incarnation) = 0;
  // Asks the worker to finish within `grace` (absent: the worker's own grace) and leave. Holds
  // until the worker restarts; a later call replaces the grace. Call Poll for the worker
  // afterwards.
  virtual void Drain(const std::string& worker_id, std::optional<absl::Duration> grace) = 0;
  // Ends expired leases. Call it at least once a second.
  virtual SchedulerEffects Tick(absl::Time now) = 0;

  virtual JobState State(const std::string& job_id) const = 0;
  virtual int queued() const = 0;
  virtual int leased() const = 0;
  // Returns true if a connected, healthy worker can run the job and stays long enough for it.
  virtual bool CanPlace(const v1::JobSpec& spec) const = 0;
  // Returns the waiting jobs by requirement. The requirements in `also` are listed even if no job
  // waits for them.
  virtual std::vector<RequirementDemand> Demand(const std::vector<Requirement>& also,
                                                absl::Time now) const = 0;
  // Free slots of all workers that accept jobs.
  virtual int idle_slots() const = 0;
};

std::unique_ptr<JobScheduler> MakeJobScheduler(JobScheduler::Options options);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_JOB_SCHEDULER_H_

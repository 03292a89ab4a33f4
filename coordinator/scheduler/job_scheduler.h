#ifndef KSEARCH_COORDINATOR_SCHEDULER_JOB_SCHEDULER_H_
#define KSEARCH_COORDINATOR_SCHEDULER_JOB_SCHEDULER_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/job.pb.h"
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

struct SchedulerEffects {
  std::vector<AttemptStarted> started;
  std::vector<AttemptEnded> ended;
  std::vector<std::string> worker_lost_jobs;  // attempts used up: record OUTCOME_WORKER_LOST
  std::vector<std::string> workers_to_wake;   // have credits and work appeared: sync them now
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
    int max_attempts = 3;
    // Makes lease ids unique across restarts of the coordinator.
    std::string epoch;
    uint64_t seed = 1;
  };

  virtual ~JobScheduler() = default;

  // Queues a job; `attempts` already used up by an earlier life. Known or done job: no effect.
  // Oldest first; a worker that lost or returned the job gets it last.
  virtual SchedulerEffects Submit(const std::string& job_id, const v1::JobSpec& spec, int attempts,
                                  absl::Time now) = 0;
  // No more attempts; a lease in flight is cancelled with the worker's next directive.
  virtual SchedulerEffects Cancel(const std::string& job_id) = 0;
  // A result row is committed for the job (by anyone, late or not).
  virtual SchedulerEffects MarkDone(const std::string& job_id) = 0;

  // A session began. A new incarnation of a known worker loses its old leases at once.
  virtual SchedulerEffects Hello(const v1::WorkerHello& hello, absl::Time now) = 0;
  // Folds a report and says what to send back; `down->directive_seq` is set. An empty directive (no
  // offers, cancels or settlements) may be dropped by the caller unless `always_reply`.
  virtual SchedulerEffects Sync(const std::string& worker_id, const v1::WorkerReport& report,
                                absl::Time now, v1::WorkerDown* down) = 0;
  // More offers for a worker that has credits, without a report; false if there is nothing to send.
  virtual bool Poll(const std::string& worker_id, absl::Time now, v1::WorkerDown* down,
                    SchedulerEffects* effects) = 0;
  // The stream ended; leases stay until their time is up.
  virtual void Disconnect(const std::string& worker_id, const std::string& incarnation) = 0;
  virtual void Drain(const std::string& worker_id) = 0;
  // Expires leases. Call at least once a second.
  virtual SchedulerEffects Tick(absl::Time now) = 0;

  virtual JobState State(const std::string& job_id) const = 0;
  virtual int queued() const = 0;
  virtual int leased() const = 0;
  // Whether any connected, healthy worker could run the job.
  virtual bool CanPlace(const v1::JobSpec& spec) const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_JOB_SCHEDULER_H_

#ifndef KSEARCH_GPU_WORKER_SESSION_SESSION_CLIENT_H_
#define KSEARCH_GPU_WORKER_SESSION_SESSION_CLIENT_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/access/client_access.h"
#include "common/mutex.h"
#include "gpu_worker/executor/job_executor.h"
#include "gpu_worker/session/held_leases.h"
#include "gpu_worker/session/joiner.h"
#include "gpu_worker/session/lease_runner.h"
#include "gpu_worker/session/result_sender.h"
#include "gpu_worker/session/result_spool.h"
#include "gpu_worker/session/state_folder.h"
#include "gpu_worker/session/stay_plan.h"
#include "gpu_worker/session/task_cache.h"
#include "gpu_worker/session/task_inputs.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

class CoordinatorLink;
class SessionStream;

// A worker's whole conversation with its coordinator: dials in, reports, executes the jobs that it
// is offered, and delivers the results. Outlives any number of streams: jobs continue while the
// coordinator is away.
class SessionClient {
 public:
  struct Options {
    std::string address;    // host:port of the coordinator
    ClientAccess access;    // token and TLS; with a join token, it gets a certificate first
    std::string state_dir;  // worker_id, lock, result spool
    // name, version, devices and isolation; the rest is filled in here.
    v1::WorkerHello hello;
    int slots = 2;
    // Asked before each report, at most once a second; may take 50 ms. Null: always healthy.
    std::function<v1::DeviceHealth()> sample_health;
    StayPlan::Options stay;
    // Since when it counts (Clock::Real().SteadyNow()); default: from Create on.
    absl::Time started = absl::InfinitePast();
    // Leaving, results the coordinator does not acknowledge for this long stay on disk.
    absl::Duration drain_patience = absl::Seconds(30);
    // Streams are renewed, so that reconnecting is nothing unusual.
    absl::Duration longest_session = absl::Hours(1);
    absl::Duration first_backoff = absl::Milliseconds(100);
    absl::Duration max_backoff = absl::Seconds(1);
  };

  // `executor` outlives it. FAILED_PRECONDITION: another worker uses state_dir. Errors of
  // Joiner::Open.
  static absl::StatusOr<std::unique_ptr<SessionClient>> Create(Options options,
                                                               JobExecutor& executor);
  // REQUIRES: Run has returned or was never called. Jobs still executing are stopped, and lost.
  ~SessionClient();
  SessionClient(const SessionClient&) = delete;
  SessionClient& operator=(const SessionClient&) = delete;

  // Works until drained or stopped (OK), or until the coordinator refuses this worker permanently;
  // the status says why. Call once.
  absl::Status Run();
  // Finish what has begun within `grace` (absent: that of the options), give back what has not
  // ended by then, hand in the results, leave. From any thread; idempotent, but a shorter grace
  // counts.
  void Drain(const std::string& why = "it was asked to",
             std::optional<absl::Duration> grace = std::nullopt);
  // Make Run return soon. From any thread; idempotent.
  void Stop();

  const std::string& worker_id() const { return state_->worker_id(); }

 private:
  SessionClient(Options options, std::unique_ptr<StateFolder> state,
                std::unique_ptr<ResultSpool> spool, std::unique_ptr<BlobFolder> inputs,
                JobExecutor& executor);

  // Sessions, until it has left or is stopped or refused.
  absl::Status Serve();
  // As in WorkerReport.
  absl::Duration TimeLeft();
  // One stream from hello to end; how it ended.
  absl::Status RunSession();
  // Sees to it that there is a certificate for the next session, if it takes one.
  absl::Status GetCertificate();
  // Reports on change and at least every report_within, until the stream or the work is over.
  void ReportLoop(SessionStream* stream);
  v1::DeviceHealth Health();
  // On a full disk, every job would be returned: takes no more until there is space.
  void CheckDisk();
  // Leaving, and nothing is left that is worth waiting for.
  bool ReadyToLeave();
  void ApplyMessage(const v1::WorkerDown& down);
  // Does what the plan says, until Run is over.
  void FollowPlan();
  // After a session for a moment of its own; then, as after a try at one, until there is a
  // connection, for `max_backoff` at most. With a connection and no session, which means that the
  // coordinator did not want one, for `delay` or until Stop.
  void AwaitNextTry(absl::Duration delay);
  void Pause(absl::Duration delay);
  bool stopping();

  const Options options_;
  const std::unique_ptr<StateFolder> state_;
  const std::unique_ptr<ResultSpool> spool_;
  v1::WorkerHello hello_;  // constant after construction
  const std::unique_ptr<CoordinatorLink> link_;
  std::unique_ptr<Joiner> joiner_;  // null: without a join token; of the thread in Run
  absl::Time session_until_;        // steady; set before a session's reports begin
  HeldLeases held_;
  TaskCache tasks_;
  const std::unique_ptr<BlobFolder> inputs_folder_;
  TaskInputs inputs_;
  ResultSender sender_;
  LeaseRunner runner_;

  std::atomic<bool> heard_{false};         // a directive came in the present session
  std::atomic<int64_t> report_within_ns_;  // as the last directive said
  // Used only by the report thread.
  v1::DeviceHealth health_;
  std::string disk_full_;  // DiskFullText at the last check
  absl::Time health_sampled_ = absl::InfinitePast();

  Mutex mu_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  StayPlan plan_ ABSL_GUARDED_BY(mu_);
  bool over_ ABSL_GUARDED_BY(mu_) = false;                // Run is
  absl::Time last_busy_ ABSL_GUARDED_BY(mu_);             // steady; as far as the plan looked
  SessionStream* stream_ ABSL_GUARDED_BY(mu_) = nullptr;  // to cancel it
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_SESSION_CLIENT_H_

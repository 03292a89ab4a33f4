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

// A worker's side of the protocol: connects, reports, executes the jobs that it is offered, and
// delivers the results. Outlives any number of streams: jobs continue while the coordinator is
// unreachable.
class SessionClient {
 public:
  struct Options {
    std::string address;    // host:port of the coordinator
    ClientAccess access;    // token and TLS; a join token is first exchanged for a certificate
    std::string state_dir;  // worker_id, lock, result spool
    // name, version, devices and isolation; this object fills in the rest.
    v1::WorkerHello hello;
    int slots = 2;
    // Called before each report, at most once a second; may take 50 ms. Null: always healthy.
    std::function<v1::DeviceHealth()> sample_health;
    StayPlan::Options stay;
    // Start of the lifetime (Clock::Real().SteadyNow()); default: the call of Create.
    absl::Time started = absl::InfinitePast();
    // When leaving, results that the coordinator does not acknowledge for this long stay on disk.
    absl::Duration drain_patience = absl::Seconds(30);
    // Streams are renewed after this time, so that reconnecting is a normal event.
    absl::Duration longest_session = absl::Hours(1);
    absl::Duration first_backoff = absl::Milliseconds(100);
    absl::Duration max_backoff = absl::Seconds(1);
  };

  // `executor` must outlive this object. FAILED_PRECONDITION: another worker uses state_dir. Errors
  // of Joiner::Open.
  static absl::StatusOr<std::unique_ptr<SessionClient>> Create(Options options,
                                                               JobExecutor& executor);
  // REQUIRES: Run has returned or was never called. Executing jobs are stopped, and lost.
  ~SessionClient();
  SessionClient(const SessionClient&) = delete;
  SessionClient& operator=(const SessionClient&) = delete;

  // Works until drained or stopped (OK), or until the coordinator refuses this worker permanently;
  // the status says why. Must be called once.
  absl::Status Run();
  // Finishes jobs that have begun within `grace` (absent: that of the options), returns the rest,
  // delivers the results, and leaves. From any thread; idempotent, but a shorter grace takes
  // effect.
  void Drain(const std::string& why = "it was asked to",
             std::optional<absl::Duration> grace = std::nullopt);
  // Makes Run return soon. From any thread; idempotent.
  void Stop();

  const std::string& worker_id() const { return state_->worker_id(); }

 private:
  SessionClient(Options options, std::unique_ptr<StateFolder> state,
                std::unique_ptr<ResultSpool> spool, std::unique_ptr<BlobFolder> inputs,
                JobExecutor& executor);

  // Runs sessions until the worker has left, is stopped or is refused.
  absl::Status Serve();
  // As in WorkerReport.
  absl::Duration TimeLeft();
  // Runs one stream from hello to end. Returns how it ended.
  absl::Status RunSession();
  // Ensures that there is a certificate for the next session, if it needs one.
  absl::Status GetCertificate();
  // Sends a report at each change and at least every report_within, until the stream or the work
  // ends.
  void ReportLoop(SessionStream* stream);
  v1::DeviceHealth Health();
  // With a full disk, every job would be returned: accepts no more until there is space.
  void CheckDisk();
  // Returns true if the worker is leaving and nothing is left to wait for.
  bool ReadyToLeave();
  void ApplyMessage(const v1::WorkerDown& down);
  // Carries out the plan until Run has ended.
  void FollowPlan();
  // After a session: waits a moment. Then, and after a failed attempt: waits until there is a
  // connection, for `max_backoff` at most. With a connection but no session, which means that the
  // coordinator refused one: waits for `delay` or until Stop.
  void AwaitNextTry(absl::Duration delay);
  void Pause(absl::Duration delay);
  bool stopping();

  const Options options_;
  const std::unique_ptr<StateFolder> state_;
  const std::unique_ptr<ResultSpool> spool_;
  v1::WorkerHello hello_;  // constant after construction
  const std::unique_ptr<CoordinatorLink> link_;
  std::unique_ptr<Joiner> joiner_;  // null without a join token; used by the thread of Run
  absl::Time session_until_;        // monotonic; set before a session's reports begin
  HeldLeases held_;
  TaskCache tasks_;
  const std::unique_ptr<BlobFolder> inputs_folder_;
  TaskInputs inputs_;
  ResultSender sender_;
  LeaseRunner runner_;

  std::atomic<bool> heard_{false};         // the present session has received a directive
  std::atomic<int64_t> report_within_ns_;  // from the last directive
  // Used only by the report thread.
  v1::DeviceHealth health_;
  std::string disk_full_;  // DiskFullText at the last check
  absl::Time health_sampled_ = absl::InfinitePast();

  Mutex mu_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  StayPlan plan_ ABSL_GUARDED_BY(mu_);
  bool over_ ABSL_GUARDED_BY(mu_) = false;     // Run has ended
  absl::Time last_busy_ ABSL_GUARDED_BY(mu_);  // monotonic; the last time that the plan saw work
  SessionStream* stream_ ABSL_GUARDED_BY(mu_) = nullptr;  // for cancelling it
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_SESSION_CLIENT_H_

#ifndef KSEARCH_COORDINATOR_SERVICE_WORKER_GATEWAY_H_
#define KSEARCH_COORDINATOR_SERVICE_WORKER_GATEWAY_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/access/certificates.h"
#include "common/blob_folder.h"
#include "common/clock.h"
#include "common/mapped_file.h"
#include "common/mutex.h"
#include "coordinator/scheduler/job_scheduler.h"
#include "coordinator/service/wanted_workers.h"
#include "coordinator/service/work_thread.h"
#include "coordinator/store/store.h"
#include "coordinator/views/fleet_facts.h"
#include "proto/search_service.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// The downstream side of one worker's session. Both methods are called with the gateway's lock
// held: they must return at once and must not call the gateway.
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  virtual void Send(const v1::WorkerDown& down) = 0;
  // Ends the session with this status; nothing is sent afterwards. Idempotent.
  virtual void End(const absl::Status& status) = 0;
};

// The identity of a worker's connection, while tokens are in use; otherwise empty.
struct WorkerIdentity {
  std::string token_id;                     // for a joined worker, its join token
  std::string certified_name;               // of the worker's certificate; "" without mutual TLS
  std::string pool = {};                    // the pool that the token is restricted to; "": any
  std::optional<JoinedWorker> joined = {};  // from the certificate that the worker presented

  static std::string OfToken(const std::string& token_id) { return "token/" + token_id; }
  // Returns the owner of the worker_id. Workers that share a token have the same owner, unless they
  // have certificates.
  std::string Owner() const {
    if (!certified_name.empty()) return "certificate/" + certified_name;
    if (joined.has_value()) return "key/" + joined->key_id;
    return token_id.empty() ? "" : OfToken(token_id);
  }
};

// Executes jobs on workers: connects the scheduler, the store and the workers' sessions.
// Independent of gRPC. Writes attempts, results and WORKER_LOST outcomes to the store; jobs must be
// stored before Submit. Thread-safe; no method blocks on the store.
class WorkerGateway : public FleetFacts {
 public:
  struct Options {
    JobScheduler::Options scheduler;  // an empty epoch is replaced by random digits
    // How often leases are checked. Also the longest delay after a lost wake-up.
    absl::Duration tick = absl::Milliseconds(100);
    // A worker that has been disconnected for this long is forgotten here and known only to the
    // store.
    absl::Duration retire_after = absl::Hours(1);
    // Folder of tasks' recorded inputs; borrowed. Null: no task has any.
    const BlobFolder* inputs = nullptr;
  };
  using ResultListener = std::function<void(const v1::JobResult&)>;
  using FleetListener = std::function<void(v1::FleetEvent)>;
  using Recorded = absl::AnyInvocable<void(absl::StatusOr<v1::RecordResultReply::Disposition>)>;

  // `store` and `clock` must outlive the gateway.
  WorkerGateway(Options options, Store* store, const Clock* clock = &Clock::Real());
  // Calls Shutdown.
  ~WorkerGateway() override;
  WorkerGateway(const WorkerGateway&) = delete;
  WorkerGateway& operator=(const WorkerGateway&) = delete;

  // Restores the state from before a restart: the attempts of unfinished jobs, the owners of
  // worker_ids (Store::ReadWorkerOwners), and faulty tasks (Store::ReadTaskFaults). Call it before
  // the first Submit.
  void Restore(const std::vector<QueuedJob>& unfinished, std::map<std::string, std::string> owners,
               const std::vector<TaskFaultRow>& task_faults);

  // ---- Jobs
  //
  // `attempts`: number used up earlier (QueuedJob::attempts). `run_id`: the run whose turn it uses;
  // "": none. No effect if the job is known.
  void Submit(const std::string& job_id, const v1::JobSpec& spec, int attempts,
              const std::string& run_id = "");
  // Sets RunConfig.priority for jobs that the run submits from now on.
  void SetPriority(const std::string& run_id, int priority);
  // Stops further attempts and tells the worker that has the job to stop. Writes no result.
  void Cancel(const std::string& job_id);
  // The same, and ends the job with this outcome and message for everybody who waits for it, unless
  // a result came first.
  void End(const std::string& job_id, v1::Outcome outcome, const std::string& message);
  // Tells the gateway that these results are no longer in the store: if submitted again, the jobs
  // are new ones.
  void ForgetDone(const std::vector<std::string>& job_ids);
  JobState State(const std::string& job_id) const;
  // State of a job without a result: since when this process has had it (wall clock), and how its
  // newest attempt ended, for example "returned by w1: no compiler"; empty if no attempt has ended.
  struct JobFacts {
    absl::Time since;
    std::string last_trouble;
  };
  JobFacts FactsOf(const std::string& job_id) const;
  // Returns true if a connected, healthy worker could run the job.
  bool CanPlace(const v1::JobSpec& spec) const;
  std::vector<v1::Platform> PlatformsFor(const v1::JobSpec& spec) const override;
  // Notes that a caller waits until a worker can run such a job. Must be repeated at least once a
  // second.
  void NoteWanted(const v1::JobSpec& spec, const std::string& caller);
  // Returns the cost per hour of one instance of a pool in nano-dollars; 0: unknown. Called when a
  // result is recorded; must not call the gateway. Set before the first session.
  void SetPoolPrice(std::function<int64_t(const std::string& pool)> price) {
    pool_price_ = std::move(price);
  }
  // Returns the waiting jobs and the available workers, without runs and pools.
  v1::DemandReply Demand();
  int queued() const;
  int leased() const;
  // Called once per job after its result (including WORKER_LOST) is committed, on the store's
  // writer thread; must not block. Set before the first Submit.
  void SetResultListener(ResultListener listener);
  // Called for each event of workers, leases and jobs, in order, with the gateway's lock held: it
  // must return at once and must not call the gateway. Set before the first Submit.
  void SetFleetListener(FleetListener listener) { fleet_listener_ = std::move(listener); }

  // ---- Workers
  std::vector<v1::WorkerStatus> Workers() const override;
  absl::Duration retire_after() const { return options_.retire_after; }
  // `grace`: as in DrainWorkerRequest. NOT_FOUND: no such worker has connected since the start.
  absl::Status Drain(const std::string& worker_id,
                     std::optional<absl::Duration> grace = std::nullopt);

  // Ends every session with UNAVAILABLE, stops the threads, and waits for writes in progress.
  // Idempotent.
  void Shutdown();

  // ---- Sessions (for worker_service)
  //
  // Begins a session. An older session of the same worker ends with ABORTED. INVALID_ARGUMENT;
  // FAILED_PRECONDITION: another protocol version; PERMISSION_DENIED: the worker_id was used with
  // other credentials before; UNAVAILABLE: shut down. `link` must stay valid until
  // EndSession(link). A certified name replaces the one in `hello`.
  absl::Status BeginSession(const v1::WorkerHello& hello, WorkerLink* link,
                            const WorkerIdentity& identity = {});
  // No effect if this is no longer the worker's newest session. INVALID_ARGUMENT.
  absl::Status Report(const std::string& worker_id, WorkerLink* link,
                      const v1::WorkerReport& report);
  void EndSession(const std::string& worker_id, WorkerLink* link);
  // `done` runs after the commit on the store's writer thread, or at once if the result is refused:
  // INVALID_ARGUMENT (also for another worker's lease or another platform than the job's),
  // PERMISSION_DENIED (another owner's worker_id), UNAVAILABLE, RESOURCE_EXHAUSTED.
  void RecordResult(const v1::RecordResultRequest& request, Recorded done,
                    const WorkerIdentity& identity = {});
  // A task, or the values of a recorded input.
  struct Blob {
    std::string bytes;
    std::shared_ptr<const MappedFile> file;  // null: `bytes` is the whole content
    absl::string_view view() const { return file != nullptr ? file->bytes() : bytes; }
  };
  // Reads the blob on a thread of the gateway, which also runs `done`. INVALID_ARGUMENT; NOT_FOUND;
  // PERMISSION_DENIED: neither the task of one of the caller's leases nor an input of such a task.
  void ReadBlob(const std::string& sha256, absl::AnyInvocable<void(absl::StatusOr<Blob>)> done,
                const WorkerIdentity& identity = {});
  // Ends, with UNAUTHENTICATED, the sessions that were opened with a token that is no longer valid.
  // Their worker_ids may reconnect with another token.
  void EndSessionsOf(const std::string& token_id);
  // Ends the session of a revoked worker in the same way, if the worker has its own certificate.
  void EndSessionOfWorker(const std::string& worker_id);
  // Called, with the gateway's lock held, for every worker that is refused or disconnected: its
  // name and the reason. Must not call the gateway. Set before the first session.
  using RefusalListener =
      std::function<void(const std::string& worker_name, const absl::Status& why)>;
  void SetRefusalListener(RefusalListener listener) { refusal_listener_ = std::move(listener); }
  // Records that a worker was not allowed to join.
  void NoteRefused(const std::string& worker_name, const absl::Status& why);

 private:
  struct Worker {
    v1::WorkerStatus status;
    WorkerLink* link = nullptr;  // null: not connected
    WorkerIdentity identity;     // of its latest session
    bool free_for_all = false;   // its token is no longer valid, so any other may replace it
    absl::Time gone_since;       // while not connected
  };
  // An unfinished job: its task, its platform, and the workers that were given a lease of it.
  struct OpenJob {
    std::string task_sha256;
    v1::Platform platform;
    std::map<std::string, std::string> worker_of_lease;
    JobFacts facts;
  };

  // Writes attempt rows and polls woken workers until none has anything to report. Jobs that were
  // given up are appended to `given_up`, to be written after the lock is released.
  void Apply(SchedulerEffects effects, std::vector<GivenUp>* given_up)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteAttempts(const SchedulerEffects& effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteWorkerLost(const std::vector<GivenUp>& given_up);
  // Called after the commit; notifies scheduler and listener.
  void OnRecorded(const v1::JobResult& result, const std::string& lease_id,
                  v1::RecordResultReply::Disposition disposition);
  void NoteSeen(const v1::WorkerHello& hello, const std::string& owner);
  void TickLoop();
  void ForgetRetired() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends sessions whose certificate has expired.
  void EndOutlived() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Checks that the sender of this hello owns the credentials.
  absl::Status CheckIdentity(const v1::WorkerHello& hello, const WorkerIdentity& identity) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends the worker's session, if it has one, and notifies the refusal listener.
  void CloseSession(Worker* worker, const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Completes the event and passes it to the listener, if there is one.
  void Tell(v1::FleetEvent event) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns "" if the worker_id has no owner.
  std::string OwnerOf(const std::string& worker_id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Reported leases of jobs that were given to other workers become leases of no job, which the
  // worker is told to drop.
  void DisownForeignLeases(const std::string& worker_id, v1::WorkerReport* report) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Checks that the result was measured with the platform of its job.
  absl::Status CheckPlatform(const v1::JobResult& result);
  // Computes JobResult.device_nano_usd: the worker's price, divided among its devices.
  int64_t DeviceCost(const v1::JobResult& result);
  // Checks that the caller may deliver this result.
  absl::Status CheckOwner(const v1::RecordResultRequest& request, const WorkerIdentity& identity);
  // The tasks of the caller's leases.
  std::set<std::string> TasksOf(const WorkerIdentity& identity);
  absl::StatusOr<Blob> ReadInput(const std::string& sha256, const std::set<std::string>& tasks,
                                 const WorkerIdentity& identity);
  bool BeginWrite();  // returns false once shut down
  void EndWrite();

  const Options options_;
  Store* const store_;
  const Clock* const clock_;
  ResultListener listener_;                                // set before use
  FleetListener fleet_listener_;                           // set before use
  std::function<int64_t(const std::string&)> pool_price_;  // set before use; may be null
  RefusalListener refusal_listener_;                       // set before use

  mutable Mutex mu_;  // acquired before a link's and the store's own locks
  CondVar changed_;   // signaled when shut_down_ is set or writes_ reaches 0
  const std::unique_ptr<JobScheduler> scheduler_ ABSL_PT_GUARDED_BY(mu_);
  std::map<std::string, Worker> workers_ ABSL_GUARDED_BY(mu_);
  // Owners by worker_id of workers that have not connected since the start.
  std::map<std::string, std::string> earlier_owners_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, OpenJob> open_jobs_ ABSL_GUARDED_BY(mu_);  // by job_id
  WantedWorkers wanted_ ABSL_GUARDED_BY(mu_);
  std::vector<GivenUp> unwritten_ ABSL_GUARDED_BY(mu_);  // refused by the store; retried
  int writes_ ABSL_GUARDED_BY(mu_) = 0;                  // results being written to the store
  bool shut_down_ ABSL_GUARDED_BY(mu_) = false;

  WorkThread blocking_;  // has its own synchronization; for blocking calls of the store
  std::thread ticker_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_WORKER_GATEWAY_H_

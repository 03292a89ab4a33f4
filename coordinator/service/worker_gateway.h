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

// The down side of one worker's session. Both are called with the gateway's lock held: they hand
// over and return, and must not call the gateway.
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  virtual void Send(const v1::WorkerDown& down) = 0;
  // Ends the session with this status; nothing is sent after it. Idempotent.
  virtual void End(const absl::Status& status) = 0;
};

// The caller, while tokens are in use; empty otherwise.
struct WorkerIdentity {
  std::string token_id;                     // of one that joined: of its join token
  std::string certified_name;               // of the worker's certificate; "" without mutual TLS
  std::string pool = {};                    // the token is good for; "": any
  std::optional<JoinedWorker> joined = {};  // by the certificate that it came with

  static std::string OfToken(const std::string& token_id) { return "token/" + token_id; }
  // Who a worker_id belongs to. Workers that share a token are one owner, unless they have
  // certificates.
  std::string Owner() const {
    if (!certified_name.empty()) return "certificate/" + certified_name;
    if (joined.has_value()) return "key/" + joined->key_id;
    return token_id.empty() ? "" : OfToken(token_id);
  }
};

// Where jobs go to be done: joins the scheduler, the store and the workers' sessions. Knows nothing
// of gRPC. Attempts, results and WORKER_LOST endings are written to the store; jobs must be there
// before Submit. Thread-safe; no method blocks on the store.
class WorkerGateway : public FleetFacts {
 public:
  struct Options {
    JobScheduler::Options scheduler;  // an empty epoch is filled with random digits
    // How often leases are checked; also bounds how late a lost wake-up is made good.
    absl::Duration tick = absl::Milliseconds(100);
    // A worker that has been away for this long is known only from the store.
    absl::Duration retire_after = absl::Hours(1);
    // Where recorded inputs of tasks lie; borrowed; null: no task has any.
    const BlobFolder* inputs = nullptr;
  };
  using ResultListener = std::function<void(const v1::JobResult&)>;
  using FleetListener = std::function<void(v1::FleetEvent)>;
  using Recorded = absl::AnyInvocable<void(absl::StatusOr<v1::RecordResultReply::Disposition>)>;

  // `store` and `clock` outlive it.
  WorkerGateway(Options options, Store* store, const Clock* clock = &Clock::Real());
  // Calls Shutdown.
  ~WorkerGateway() override;
  WorkerGateway(const WorkerGateway&) = delete;
  WorkerGateway& operator=(const WorkerGateway&) = delete;

  // What is known from before a restart: whom the leases of unfinished jobs were given to, whose
  // the worker_ids are (Store::ReadWorkerOwners), and which tasks are at fault
  // (Store::ReadTaskFaults). Call before the first Submit.
  void Restore(const std::vector<QueuedJob>& unfinished, std::map<std::string, std::string> owners,
               const std::vector<TaskFaultRow>& task_faults);

  // ---- jobs
  // `attempts`: used up earlier (QueuedJob::attempts). `run_id`: the run that takes a turn with it;
  // "": none. Known job: no effect.
  void Submit(const std::string& job_id, const v1::JobSpec& spec, int attempts,
              const std::string& run_id = "");
  // RunConfig.priority, for what the run submits from now on.
  void SetPriority(const std::string& run_id, int priority);
  // No more attempts; the worker that has it is told to stop. Writes no result.
  void Cancel(const std::string& job_id);
  // The same, and the job ends with this outcome and message for everybody who waits for it, unless
  // a result came first.
  void End(const std::string& job_id, v1::Outcome outcome, const std::string& message);
  // Their results are no longer in the store: submitted again, they are new jobs.
  void ForgetDone(const std::vector<std::string>& job_ids);
  JobState State(const std::string& job_id) const;
  // For a job without a result: since when this process has had it (wall clock), and what became of
  // its newest attempt, e.g. "returned by w1: no compiler"; empty: none has ended.
  struct JobFacts {
    absl::Time since;
    std::string last_trouble;
  };
  JobFacts FactsOf(const std::string& job_id) const;
  // Whether a connected, healthy worker could run it.
  bool CanPlace(const v1::JobSpec& spec) const;
  std::vector<v1::Platform> PlatformsFor(const v1::JobSpec& spec) const override;
  // A caller waits until a worker can do such a job: repeat this at least once a second. `caller`
  // identifies the caller.
  void NoteWanted(const v1::JobSpec& spec, const std::string& caller);
  // What one instance of a pool costs in an hour, in nano-dollars; 0: not known. Asked when a
  // result is recorded; must not call the gateway. Set before the first session.
  void SetPoolPrice(std::function<int64_t(const std::string& pool)> price) {
    pool_price_ = std::move(price);
  }
  // What waits for workers and the workers there are; without runs and pools.
  v1::DemandReply Demand();
  int queued() const;
  int leased() const;
  // Called once per job after its result (WORKER_LOST too) is committed, on the store's writer
  // thread; must not block. Set before the first Submit.
  void SetResultListener(ResultListener listener);
  // Called for each event of workers, leases and jobs, in their order, with the gateway's lock
  // held: it hands over and returns, and must not call the gateway. Set before the first Submit.
  void SetFleetListener(FleetListener listener) { fleet_listener_ = std::move(listener); }

  // ---- workers
  std::vector<v1::WorkerStatus> Workers() const override;
  absl::Duration retire_after() const { return options_.retire_after; }
  // `grace`: as in DrainWorkerRequest. NOT_FOUND: no such worker since the start.
  absl::Status Drain(const std::string& worker_id,
                     std::optional<absl::Duration> grace = std::nullopt);

  // Ends every session with UNAVAILABLE, stops the threads, waits for writes under way. Idempotent.
  void Shutdown();

  // ---- sessions (for worker_service)
  // Takes over from an older session of the same worker, which ends with ABORTED.
  // INVALID_ARGUMENT, FAILED_PRECONDITION (protocol version), PERMISSION_DENIED (the worker_id came
  // with other credentials before), UNAVAILABLE (shut down). `link` stays valid until
  // EndSession(link). A certified name replaces the one in `hello`.
  absl::Status BeginSession(const v1::WorkerHello& hello, WorkerLink* link,
                            const WorkerIdentity& identity = {});
  // No effect if the session is no longer the worker's newest. INVALID_ARGUMENT.
  absl::Status Report(const std::string& worker_id, WorkerLink* link,
                      const v1::WorkerReport& report);
  void EndSession(const std::string& worker_id, WorkerLink* link);
  // `done` runs after commit, on the store's writer thread (or at once on refusal):
  // INVALID_ARGUMENT (also: another worker's lease, or not measured with the job's platform),
  // PERMISSION_DENIED (another owner's worker_id),
  // UNAVAILABLE, RESOURCE_EXHAUSTED.
  void RecordResult(const v1::RecordResultRequest& request, Recorded done,
                    const WorkerIdentity& identity = {});
  // A task, or the values of a recorded input.
  struct Blob {
    std::string bytes;
    std::shared_ptr<const MappedFile> file;  // null: `bytes` has it all
    absl::string_view view() const { return file != nullptr ? file->bytes() : bytes; }
  };
  // Reads on a thread of the gateway's, where `done` runs too. INVALID_ARGUMENT, NOT_FOUND,
  // PERMISSION_DENIED (not the task of a lease of the caller's, nor an input of one).
  void ReadBlob(const std::string& sha256, absl::AnyInvocable<void(absl::StatusOr<Blob>)> done,
                const WorkerIdentity& identity = {});
  // The token is no longer good: ends the sessions that began with it with UNAUTHENTICATED. Their
  // worker_ids may come back with another token.
  void EndSessionsOf(const std::string& token_id);
  // The worker is revoked: ends its session likewise, if it came with a certificate of its own.
  void EndSessionOfWorker(const std::string& worker_id);
  // Told, with the gateway's lock held, of every worker that it does not let in or puts out: its
  // name and why. Must not call the gateway. Set before the first session.
  using RefusalListener =
      std::function<void(const std::string& worker_name, const absl::Status& why)>;
  void SetRefusalListener(RefusalListener listener) { refusal_listener_ = std::move(listener); }
  // A worker may not join.
  void NoteRefused(const std::string& worker_name, const absl::Status& why);

 private:
  struct Worker {
    v1::WorkerStatus status;
    WorkerLink* link = nullptr;  // null: not connected
    WorkerIdentity identity;     // of its latest session
    bool free_for_all = false;   // its token has ended: any other may take its place
    absl::Time gone_since;       // while not connected
  };
  // An unfinished job: its task, what it is to be done with, and who was given a lease of it.
  struct OpenJob {
    std::string task_sha256;
    v1::Platform platform;
    std::map<std::string, std::string> worker_of_lease;
    JobFacts facts;
  };

  // Writes attempt rows and polls workers that were woken, until none has anything to report. Jobs
  // given up are added to `given_up`, to be written once the lock is released.
  void Apply(SchedulerEffects effects, std::vector<GivenUp>* given_up)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteAttempts(const SchedulerEffects& effects) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteWorkerLost(const std::vector<GivenUp>& given_up);
  // After commit: tells scheduler and listener.
  void OnRecorded(const v1::JobResult& result, const std::string& lease_id,
                  v1::RecordResultReply::Disposition disposition);
  void NoteSeen(const v1::WorkerHello& hello, const std::string& owner);
  void TickLoop();
  void ForgetRetired() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Sessions whose certificate has ended meanwhile.
  void EndOutlived() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether the sender of this hello is the owner of the credentials.
  absl::Status CheckIdentity(const v1::WorkerHello& hello, const WorkerIdentity& identity) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends the worker's session, if it has one, and tells people.
  void PutOut(Worker* worker, const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Completes the event and hands it to the listener, if there is one.
  void Tell(v1::FleetEvent event) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // "": anybody's.
  std::string OwnerOf(const std::string& worker_id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Leases of jobs in the report that were given to others become leases of no job, which the
  // worker is told to drop.
  void DisownForeignLeases(const std::string& worker_id, v1::WorkerReport* report) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether the result was measured with what its job asks for.
  absl::Status CheckPlatform(const v1::JobResult& result);
  // JobResult.device_nano_usd: the worker's price, shared by its devices.
  int64_t DeviceCost(const v1::JobResult& result);
  // Whether the caller may hand in this result.
  absl::Status CheckOwner(const v1::RecordResultRequest& request, const WorkerIdentity& identity);
  // The tasks of the caller's leases.
  std::set<std::string> TasksOf(const WorkerIdentity& identity);
  absl::StatusOr<Blob> ReadInput(const std::string& sha256, const std::set<std::string>& tasks,
                                 const WorkerIdentity& identity);
  bool BeginWrite();  // false once shut down
  void EndWrite();

  const Options options_;
  Store* const store_;
  const Clock* const clock_;
  ResultListener listener_;                                // set before use
  FleetListener fleet_listener_;                           // likewise
  std::function<int64_t(const std::string&)> pool_price_;  // likewise; may be null
  RefusalListener refusal_listener_;                       // likewise

  mutable Mutex mu_;  // before a link's and the store's own locks
  CondVar changed_;   // shut_down_ set, or writes_ reached 0
  const std::unique_ptr<JobScheduler> scheduler_ ABSL_PT_GUARDED_BY(mu_);
  std::map<std::string, Worker> workers_ ABSL_GUARDED_BY(mu_);
  // By worker_id, for workers that have not connected since the start.
  std::map<std::string, std::string> earlier_owners_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, OpenJob> open_jobs_ ABSL_GUARDED_BY(mu_);  // by job_id
  WantedWorkers wanted_ ABSL_GUARDED_BY(mu_);
  std::vector<GivenUp> unwritten_ ABSL_GUARDED_BY(mu_);  // the store refused: again later
  int writes_ ABSL_GUARDED_BY(mu_) = 0;                  // results under way in the store
  bool shut_down_ ABSL_GUARDED_BY(mu_) = false;

  WorkThread blocking_;  // own synchronization; for calls of the store that block
  std::thread ticker_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_WORKER_GATEWAY_H_

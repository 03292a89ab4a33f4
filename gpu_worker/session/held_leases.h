#ifndef KSEARCH_GPU_WORKER_SESSION_HELD_LEASES_H_
#define KSEARCH_GPU_WORKER_SESSION_HELD_LEASES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/mutex.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// The worker's truth about its leases, and the report made of it:
//
//   offer -> QUEUED -> BUILDING/WAITING/RUNNING -> FINISHED -> dropped (acknowledged)
//              |              |-> dropped (cancelled)
//              |              `-> RETURNED -> dropped (settled)
//              `-> dropped (cancelled) or RETURNED (the worker is leaving)
//
// Knows nothing of gRPC, disk or execution. Calls about a lease that is not held, or not in a state
// they apply to, have no effect: messages cross. Thread-safe.
class HeldLeases {
 public:
  // The requests of a directive to the worker.
  struct Orders {
    std::vector<v1::JobOffer> start;  // newly held, in order
    std::vector<std::string> stop;    // lease ids whose execution should end
  };

  explicit HeldLeases(int slots) : slots_(slots) {}

  // A stream was opened: directives start at 1 again and the first report is due.
  void BeginSession();
  Orders Apply(const v1::WorkerDown& down);
  // Adds a result that was found in the spool at the start.
  void Restore(const std::string& lease_id, const std::string& job_id, int attempt);

  // QUEUED -> BUILDING. Returns false if the lease was cancelled or returned meanwhile: it must not
  // be started.
  bool Start(const std::string& lease_id);
  // Only between the states of execution.
  void Progress(const std::string& lease_id, v1::HeldLease::State state);
  void Finish(const std::string& lease_id);
  void Return(const std::string& lease_id, const std::string& why);
  // No effect on a returned lease, which is dropped when it is settled.
  void Drop(const std::string& lease_id);

  // Starts to leave, because of `why`: leases that have not begun are returned, as are new offers,
  // and the rest is finished.
  void Drain(const std::string& why = "the worker is leaving");
  // Leaving, and the time is up: returns the executing leases. Returns the ids whose execution must
  // end.
  std::vector<std::string> GiveBack();
  bool draining() const;

  // Slots of sick devices are not offered.
  v1::WorkerReport Report(const v1::DeviceHealth& health) const;
  // Leases that are queued or executing.
  int busy() const;
  bool empty() const;
  // Offers accepted so far.
  int64_t taken() const;

  // Increases with every change that belongs in a report.
  int64_t version() const;
  // Returns when version() differs from `seen`, or after `timeout`.
  void WaitForChange(int64_t seen, absl::Duration timeout);
  // Makes WaitForChange return.
  void Touch();

 private:
  int SlotsOf(const v1::DeviceHealth& health) const;
  void ReturnLeaving(v1::HeldLease* lease) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Changed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  v1::HeldLease* Find(const std::string& lease_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  int BusyCount() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int slots_;
  mutable Mutex mu_;
  CondVar changed_;
  std::map<std::string, v1::HeldLease> leases_ ABSL_GUARDED_BY(mu_);
  int64_t applied_seq_ ABSL_GUARDED_BY(mu_) = 0;
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
  std::string leaving_because_ ABSL_GUARDED_BY(mu_);
  int64_t taken_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t version_ ABSL_GUARDED_BY(mu_) = 1;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_HELD_LEASES_H_

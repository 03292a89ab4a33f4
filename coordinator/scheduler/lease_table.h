#ifndef KSEARCH_COORDINATOR_SCHEDULER_LEASE_TABLE_H_
#define KSEARCH_COORDINATOR_SCHEDULER_LEASE_TABLE_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// The right of one worker to try one job until `expiry`.
struct Lease {
  std::string lease_id;
  std::string job_id;
  std::string worker_id;
  std::string task_sha256;  // of the job
  int attempt = 0;
  v1::HeldLease::State state = v1::HeldLease::STATE_UNSPECIFIED;  // as last reported
  absl::Time expiry;
  // Directive of the worker's present session that offered the lease; 0 if the worker held it
  // before the session.
  int64_t offer_seq = 0;
  // The scheduler no longer wants the job from this lease, which is kept only until the worker
  // stops listing it.
  bool cancelled = false;
  bool cancel_sent = false;  // in the present session
};

// All leases in force, by id and by worker. Thread-compatible.
class LeaseTable {
 public:
  // Returns null if the id is unknown. The pointer is valid until the next Add or Remove.
  Lease* Find(const std::string& lease_id);
  const Lease* Find(const std::string& lease_id) const;
  void Add(Lease lease);
  void Remove(const std::string& lease_id);

  // Ids in ascending order.
  const std::set<std::string>& IdsOf(const std::string& worker_id) const;
  // Number of leases for jobs of the task.
  int CountOfTask(const std::string& task_sha256) const;
  // Leases that have expired at `now`, by ascending id.
  std::vector<std::string> Expired(absl::Time now) const;

 private:
  absl::flat_hash_map<std::string, Lease> leases_;
  absl::flat_hash_map<std::string, std::set<std::string>> by_worker_;
  absl::flat_hash_map<std::string, int> of_task_;  // never holds a count of 0
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_LEASE_TABLE_H_

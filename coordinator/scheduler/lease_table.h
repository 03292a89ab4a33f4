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

// The right of one worker to try one job, until `expiry`.
struct Lease {
  std::string lease_id;
  std::string job_id;
  std::string worker_id;
  std::string task_sha256;  // of the job
  int attempt = 0;
  v1::HeldLease::State state = v1::HeldLease::STATE_UNSPECIFIED;  // as last reported
  absl::Time expiry;
  // Directive of the worker's present session that offered it; 0 = known to it before the session.
  int64_t offer_seq = 0;
  // The job no longer wants it; kept only until the worker stops listing it.
  bool cancelled = false;
  bool cancel_sent = false;  // in the present session
};

// Which leases are out, by id and by worker. Thread-compatible.
class LeaseTable {
 public:
  // Valid until the next Add or Remove; null if unknown.
  Lease* Find(const std::string& lease_id);
  const Lease* Find(const std::string& lease_id) const;
  void Add(Lease lease);
  void Remove(const std::string& lease_id);

  // In order of id.
  const std::set<std::string>& IdsOf(const std::string& worker_id) const;
  // How many are out for jobs of the task.
  int CountOfTask(const std::string& task_sha256) const;
  // Those whose time is up at `now`, in order of id.
  std::vector<std::string> Expired(absl::Time now) const;

 private:
  absl::flat_hash_map<std::string, Lease> leases_;
  absl::flat_hash_map<std::string, std::set<std::string>> by_worker_;
  absl::flat_hash_map<std::string, int> of_task_;  // no count is 0
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_LEASE_TABLE_H_

#ifndef KSEARCH_COORDINATOR_SERVICE_JOB_CLIENTS_H_
#define KSEARCH_COORDINATOR_SERVICE_JOB_CLIENTS_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "common/mutex.h"

namespace ksearch {

// Counts the clients (`ksearch eval`) that wait for each job. Thread-safe.
class JobClients {
 public:
  void Enter(const std::string& job_id) {
    MutexLock lock(&mu_);
    ++waiting_[job_id];
  }
  // Returns true if this was the last client. REQUIRES: Enter(job_id).
  bool Leave(const std::string& job_id) {
    MutexLock lock(&mu_);
    const auto it = waiting_.find(job_id);
    if (--it->second > 0) return false;
    waiting_.erase(it);
    return true;
  }
  int Waiting(const std::string& job_id) const {
    MutexLock lock(&mu_);
    const auto it = waiting_.find(job_id);
    return it == waiting_.end() ? 0 : it->second;
  }

 private:
  mutable Mutex mu_;
  absl::flat_hash_map<std::string, int> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_JOB_CLIENTS_H_

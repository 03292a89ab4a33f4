#ifndef KSEARCH_COORDINATOR_SCHEDULER_OPEN_WORKERS_H_
#define KSEARCH_COORDINATOR_SCHEDULER_OPEN_WORKERS_H_

#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace ksearch {

// The workers that could take a job, ordered by load, so that the least loaded one is found without
// a scan. Thread-compatible.
class OpenWorkers {
 public:
  using Order = std::set<std::pair<int, std::string>>;  // (leases, worker_id)

  void Put(const std::string& worker_id, int load) {
    const auto [known, fresh] = loads_.try_emplace(worker_id, load);
    if (!fresh) {
      if (known->second == load) return;
      order_.erase({known->second, worker_id});
      known->second = load;
    }
    order_.emplace(load, worker_id);
  }
  void Remove(const std::string& worker_id) {
    const auto known = loads_.find(worker_id);
    if (known == loads_.end()) return;
    order_.erase({known->second, worker_id});
    loads_.erase(known);
  }
  const Order& order() const { return order_; }

 private:
  Order order_;
  absl::flat_hash_map<std::string, int> loads_;  // exactly the workers in order_
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_OPEN_WORKERS_H_

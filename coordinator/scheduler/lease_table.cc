#include "coordinator/scheduler/lease_table.h"

#include <algorithm>
#include <utility>

namespace ksearch {

Lease* LeaseTable::Find(const std::string& lease_id) {
  const auto it = leases_.find(lease_id);
  return it == leases_.end() ? nullptr : &it->second;
}

const Lease* LeaseTable::Find(const std::string& lease_id) const {
  const auto it = leases_.find(lease_id);
  return it == leases_.end() ? nullptr : &it->second;
}

void LeaseTable::Add(Lease lease) {
  Remove(lease.lease_id);
  by_worker_[lease.worker_id].insert(lease.lease_id);
  ++of_task_[lease.task_sha256];
  const std::string id = lease.lease_id;
  leases_.emplace(id, std::move(lease));
}

void LeaseTable::Remove(const std::string& lease_id) {
  const auto it = leases_.find(lease_id);
  if (it == leases_.end()) return;
  const auto worker = by_worker_.find(it->second.worker_id);
  worker->second.erase(lease_id);
  if (worker->second.empty()) by_worker_.erase(worker);
  const auto task = of_task_.find(it->second.task_sha256);
  if (--task->second == 0) of_task_.erase(task);
  leases_.erase(it);
}

const std::set<std::string>& LeaseTable::IdsOf(const std::string& worker_id) const {
  static const std::set<std::string>* const none = new std::set<std::string>;
  const auto it = by_worker_.find(worker_id);
  return it == by_worker_.end() ? *none : it->second;
}

int LeaseTable::CountOfTask(const std::string& task_sha256) const {
  const auto it = of_task_.find(task_sha256);
  return it == of_task_.end() ? 0 : it->second;
}

std::vector<std::string> LeaseTable::Expired(absl::Time now) const {
  std::vector<std::string> expired;
  for (const auto& [id, lease] : leases_) {
    if (lease.expiry <= now) expired.push_back(id);
  }
  std::sort(expired.begin(), expired.end());
  return expired;
}

}  // namespace ksearch

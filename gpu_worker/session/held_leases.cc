#include "gpu_worker/session/held_leases.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

// With this many results waiting for the coordinator, more would only fill the disk.
constexpr int kMaxUnacknowledged = 64;
constexpr size_t kMaxReasonBytes = 1024;

bool IsExecuting(v1::HeldLease::State state) {
  return state == v1::HeldLease::BUILDING || state == v1::HeldLease::WAITING ||
         state == v1::HeldLease::RUNNING;
}

bool IsBusy(v1::HeldLease::State state) {
  return state == v1::HeldLease::QUEUED || IsExecuting(state);
}

}  // namespace

void HeldLeases::BeginSession() {
  MutexLock lock(&mu_);
  applied_seq_ = 0;
  Changed();
}

HeldLeases::Orders HeldLeases::Apply(const v1::WorkerDown& down) {
  MutexLock lock(&mu_);
  Orders orders;
  if (down.directive_seq() <= applied_seq_) return orders;
  applied_seq_ = down.directive_seq();
  for (const v1::JobOffer& offer : down.offers()) {
    const auto [it, added] = leases_.try_emplace(offer.lease_id());
    if (!added) continue;
    v1::HeldLease& lease = it->second;
    lease.set_lease_id(offer.lease_id());
    lease.set_job_id(offer.job_id());
    lease.set_attempt(offer.attempt());
    if (draining_) {
      ReturnLeaving(&lease);
    } else {
      ++taken_;
      lease.set_state(v1::HeldLease::QUEUED);
      orders.start.push_back(offer);
    }
    Changed();
  }
  for (const std::string& lease_id : down.cancel_lease_ids()) {
    const v1::HeldLease* lease = Find(lease_id);
    if (lease == nullptr) continue;
    if (IsExecuting(lease->state())) {
      orders.stop.push_back(lease_id);
    } else if (lease->state() != v1::HeldLease::FINISHED) {
      // A finished lease is released when its result is acknowledged.
      leases_.erase(lease_id);
      Changed();
    }
  }
  for (const std::string& lease_id : down.settled_lease_ids()) {
    const v1::HeldLease* lease = Find(lease_id);
    if (lease == nullptr || lease->state() != v1::HeldLease::RETURNED) continue;
    leases_.erase(lease_id);
    Changed();
  }
  return orders;
}

void HeldLeases::Restore(const std::string& lease_id, const std::string& job_id, int attempt) {
  MutexLock lock(&mu_);
  v1::HeldLease& lease = leases_[lease_id];
  lease.set_lease_id(lease_id);
  lease.set_job_id(job_id);
  lease.set_attempt(attempt);
  lease.set_state(v1::HeldLease::FINISHED);
  Changed();
}

bool HeldLeases::Start(const std::string& lease_id) {
  MutexLock lock(&mu_);
  v1::HeldLease* lease = Find(lease_id);
  if (lease == nullptr || lease->state() != v1::HeldLease::QUEUED) return false;
  lease->set_state(v1::HeldLease::BUILDING);
  Changed();
  return true;
}

void HeldLeases::Progress(const std::string& lease_id, v1::HeldLease::State state) {
  MutexLock lock(&mu_);
  v1::HeldLease* lease = Find(lease_id);
  if (lease == nullptr || !IsExecuting(lease->state()) || !IsExecuting(state) ||
      lease->state() == state) {
    return;
  }
  lease->set_state(state);
  Changed();
}

void HeldLeases::Finish(const std::string& lease_id) {
  MutexLock lock(&mu_);
  v1::HeldLease* lease = Find(lease_id);
  if (lease == nullptr || !IsExecuting(lease->state())) return;
  lease->set_state(v1::HeldLease::FINISHED);
  Changed();
}

void HeldLeases::Return(const std::string& lease_id, const std::string& why) {
  MutexLock lock(&mu_);
  v1::HeldLease* lease = Find(lease_id);
  if (lease == nullptr || lease->state() == v1::HeldLease::RETURNED) return;
  lease->set_state(v1::HeldLease::RETURNED);
  lease->set_returned(why.substr(0, kMaxReasonBytes));
  Changed();
}

void HeldLeases::Drop(const std::string& lease_id) {
  MutexLock lock(&mu_);
  const v1::HeldLease* lease = Find(lease_id);
  if (lease == nullptr || lease->state() == v1::HeldLease::RETURNED) return;
  leases_.erase(lease_id);
  Changed();
}

void HeldLeases::Drain(const std::string& why) {
  MutexLock lock(&mu_);
  if (draining_) return;
  draining_ = true;
  leaving_because_ = why.substr(0, kMaxReasonBytes);
  for (auto& [id, lease] : leases_) {
    if (lease.state() == v1::HeldLease::QUEUED) ReturnLeaving(&lease);
  }
  Changed();
}

std::vector<std::string> HeldLeases::GiveBack() {
  MutexLock lock(&mu_);
  std::vector<std::string> stop;
  for (auto& [id, lease] : leases_) {
    if (!IsExecuting(lease.state())) continue;
    ReturnLeaving(&lease);
    stop.push_back(id);
  }
  if (!stop.empty()) Changed();
  return stop;
}

void HeldLeases::ReturnLeaving(v1::HeldLease* lease) {
  lease->set_state(v1::HeldLease::RETURNED);
  lease->set_return_reason(v1::HeldLease::LEAVING);
  lease->set_returned(absl::StrCat("the worker leaves: ", leaving_because_));
}

bool HeldLeases::draining() const {
  MutexLock lock(&mu_);
  return draining_;
}

int HeldLeases::SlotsOf(const v1::DeviceHealth& health) const {
  const int devices = health.devices();
  const int sick = std::min(health.sick_devices_size(), devices);
  // Rounded up, so that the remaining devices do not run out of work.
  return devices == 0 ? slots_ : (slots_ * (devices - sick) + devices - 1) / devices;
}

v1::WorkerReport HeldLeases::Report(const v1::DeviceHealth& health) const {
  MutexLock lock(&mu_);
  v1::WorkerReport report;
  report.set_applied_directive_seq(applied_seq_);
  int unacknowledged = 0;
  for (const auto& [id, lease] : leases_) {
    *report.add_leases() = lease;
    unacknowledged += lease.state() == v1::HeldLease::FINISHED;
  }
  const bool willing = !draining_ && health.healthy() && unacknowledged < kMaxUnacknowledged;
  report.set_free_slots(willing ? std::max(0, SlotsOf(health) - BusyCount()) : 0);
  *report.mutable_health() = health;
  report.set_draining(draining_);
  report.set_leaving_because(leaving_because_);
  return report;
}

int HeldLeases::busy() const {
  MutexLock lock(&mu_);
  return BusyCount();
}

bool HeldLeases::empty() const {
  MutexLock lock(&mu_);
  return leases_.empty();
}

int64_t HeldLeases::taken() const {
  MutexLock lock(&mu_);
  return taken_;
}

int64_t HeldLeases::version() const {
  MutexLock lock(&mu_);
  return version_;
}

void HeldLeases::WaitForChange(int64_t seen, absl::Duration timeout) {
  MutexLock lock(&mu_);
  if (version_ == seen) changed_.WaitFor(&mu_, timeout);
}

void HeldLeases::Touch() {
  MutexLock lock(&mu_);
  Changed();
}

void HeldLeases::Changed() {
  ++version_;
  changed_.NotifyAll();
}

v1::HeldLease* HeldLeases::Find(const std::string& lease_id) {
  const auto it = leases_.find(lease_id);
  return it == leases_.end() ? nullptr : &it->second;
}

int HeldLeases::BusyCount() const {
  return static_cast<int>(std::count_if(leases_.begin(), leases_.end(), [](const auto& entry) {
    return IsBusy(entry.second.state());
  }));
}

}  // namespace ksearch

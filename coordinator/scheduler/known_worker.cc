#include "coordinator/scheduler/known_worker.h"

#include <algorithm>

#include "common/textproto.h"

namespace ksearch {

absl::Duration ReturnDelay(int returns) {
  return std::min(absl::Minutes(1),
                  absl::Seconds(1) * (int64_t{1} << std::clamp(returns - 1, 0, 6)));
}

void KnownWorker::BeginSession(const v1::WorkerHello& hello, absl::Time now) {
  // Restarting a worker puts it back into service.
  if (hello.incarnation() != hello_.incarnation()) drain = false;
  hello_ = hello;
  connected_ = true;
  reported_ = false;
  directive_seq_ = 0;
  applied_seq_ = 0;
  free_slots_ = 0;
  uncovered_offers_.clear();
  drain_sent = false;
  silent_ = false;
  last_seen_ = now;
}

void KnownWorker::EndSession(absl::Time now) {
  connected_ = false;
  last_seen_ = now;
}

bool KnownWorker::IsCurrent(const v1::WorkerReport& report) const {
  return report.applied_directive_seq() >= applied_seq_;
}

int64_t KnownWorker::AppliedSeq(const v1::WorkerReport& report) const {
  return std::clamp<int64_t>(report.applied_directive_seq(), 0, directive_seq_);
}

void KnownWorker::Apply(const v1::WorkerReport& report, absl::Time now) {
  reported_ = true;
  silent_ = false;
  applied_seq_ = AppliedSeq(report);
  uncovered_offers_.erase(uncovered_offers_.begin(), uncovered_offers_.upper_bound(applied_seq_));
  free_slots_ = report.free_slots();
  healthy_ = !report.has_health() || report.health().healthy();
  leaving_ = report.draining();
  leaves_at_ =
      report.has_time_left() ? now + FromProto(report.time_left()) : absl::InfiniteFuture();
  busy_ = static_cast<int>(
      std::count_if(report.leases().begin(), report.leases().end(), [](const auto& lease) {
        return lease.state() != v1::HeldLease::FINISHED && lease.state() != v1::HeldLease::RETURNED;
      }));
  last_seen_ = now;
}

int KnownWorker::credits() const {
  int credits = free_slots_;
  for (const auto& [seq, offers] : uncovered_offers_) credits -= offers;
  return std::max(0, credits);
}

bool KnownWorker::willing() const {
  return connected_ && !silent_ && healthy_ && !leaving_ && !drain;
}

void KnownWorker::ForgetOffer(int64_t directive_seq) {
  const auto it = uncovered_offers_.find(directive_seq);
  if (it != uncovered_offers_.end() && --it->second == 0) uncovered_offers_.erase(it);
}

void KnownWorker::CountReturn(const std::string& job_id, absl::Time now) {
  if (returns_in_a_row_ > 0 && job_id == last_returned_) return;
  last_returned_ = job_id;
  if (++returns_in_a_row_ > 1) rest_until = now + ReturnDelay(returns_in_a_row_ - 1);
}

}  // namespace ksearch

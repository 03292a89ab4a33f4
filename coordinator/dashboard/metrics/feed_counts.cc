#include "coordinator/dashboard/metrics/feed_counts.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "common/textproto.h"

namespace ksearch::dashboard {
namespace {

// Leases that never end with a result are forgotten beyond this number.
constexpr size_t kMostLeased = 100000;

double Seconds(const google::protobuf::Duration& duration) {
  return absl::ToDoubleSeconds(FromProto(duration));
}

}  // namespace

const std::vector<double>& FeedCounts::EvalBounds() {
  static const auto* const bounds =
      new std::vector<double>{0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1800};
  return *bounds;
}

FeedCounts::FeedCounts() { totals_.eval_seconds.resize(EvalBounds().size() + 1); }

void FeedCounts::Count(const v1::FeedEntry& entry) {
  if (!entry.has_fleet()) return;
  const v1::FleetEvent& event = entry.fleet();
  MutexLock lock(&mu_);
  switch (event.kind()) {
    case v1::FleetEvent::LEASE_STARTED:
      if (leased_.size() < kMostLeased) leased_[event.job_id()] = FromProto(event.at());
      break;
    case v1::FleetEvent::LEASE_ENDED:
      // The first word says how the lease ended.
      if (absl::StartsWith(event.text(), "lost")) ++totals_.leases_lost;
      leased_.erase(event.job_id());
      break;
    case v1::FleetEvent::JOB_ENDED:
      CountResult(event);
      break;
    case v1::FleetEvent::CALL_ANSWERED:
    case v1::FleetEvent::CALL_FAILED: {
      Calls& calls = totals_.calls[{event.call().provider(), event.call().model()}];
      ++(event.kind() == v1::FleetEvent::CALL_ANSWERED ? calls.answered : calls.failed);
      calls.input_tokens += event.call().input_tokens();
      calls.output_tokens += event.call().output_tokens();
      calls.nano_usd += event.call().nano_usd();
      break;
    }
    default:
      break;
  }
}

void FeedCounts::CountResult(const v1::FleetEvent& event) {
  ++totals_.results[event.outcome()];
  totals_.device_seconds += Seconds(event.device_time());
  const auto leased = leased_.find(event.job_id());
  if (leased == leased_.end()) return;
  const double took = std::max(0.0, absl::ToDoubleSeconds(FromProto(event.at()) - leased->second));
  leased_.erase(leased);
  const std::vector<double>& bounds = EvalBounds();
  const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), took) - bounds.begin();
  ++totals_.eval_seconds[static_cast<size_t>(bucket)];
  totals_.eval_seconds_sum += took;
}

FeedCounts::Totals FeedCounts::totals() const {
  MutexLock lock(&mu_);
  return totals_;
}

}  // namespace ksearch::dashboard

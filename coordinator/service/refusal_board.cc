#include "coordinator/service/refusal_board.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr size_t kMost = 64;
constexpr absl::Duration kKept = absl::Hours(1);
constexpr absl::Duration kTellEvery = absl::Seconds(10);

std::string Printable(absl::string_view text, size_t most) {
  std::string line(text.substr(0, most));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return !absl::ascii_isprint(c); }, '?');
  return line;
}

}  // namespace

std::optional<v1::FleetEvent> RefusalBoard::Note(absl::string_view worker_name,
                                                 absl::string_view reason) {
  const absl::Time now = clock_.SteadyNow();
  const std::pair<std::string, std::string> key = {Printable(worker_name, 64),
                                                   Printable(reason, 1024)};
  MutexLock lock(&mu_);
  ForgetOld(now);
  if (!refusals_.contains(key) && refusals_.size() >= kMost) {
    refusals_.erase(std::min_element(
        refusals_.begin(), refusals_.end(),
        [](const auto& a, const auto& b) { return a.second.last_seen < b.second.last_seen; }));
  }
  Refusal& refusal = refusals_[key];
  const bool tell = refusal.times == 0 || now - refusal.last_logged >= kTellEvery;
  ++refusal.times;
  refusal.last_at = clock_.Now();
  refusal.last_seen = now;
  if (!tell) return std::nullopt;
  refusal.last_logged = now;
  v1::FleetEvent event;
  event.set_kind(v1::FleetEvent::WORKER_REFUSED);
  event.set_worker_name(key.first);
  event.set_text(key.second);
  *event.mutable_at() = ToProto(refusal.last_at);
  return event;
}

std::vector<v1::WorkerRefusal> RefusalBoard::Refusals() {
  std::vector<v1::WorkerRefusal> all;
  MutexLock lock(&mu_);
  ForgetOld(clock_.SteadyNow());
  for (const auto& [key, refusal] : refusals_) {
    v1::WorkerRefusal& one = all.emplace_back();
    one.set_worker_name(key.first);
    one.set_reason(key.second);
    one.set_times(refusal.times);
    *one.mutable_last_at() = ToProto(refusal.last_at);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return FromProto(a.last_at()) > FromProto(b.last_at());
  });
  return all;
}

void RefusalBoard::ForgetOld(absl::Time now) {
  std::erase_if(refusals_,
                [now](const auto& entry) { return now - entry.second.last_seen > kKept; });
}

}  // namespace ksearch

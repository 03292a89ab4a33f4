#include "coordinator/service/pool_board.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr absl::Duration kDefaultHold = absl::Seconds(30);
constexpr absl::Duration kLongestHold = absl::Minutes(10);
constexpr absl::Duration kForgetAfter = absl::Hours(1);
constexpr size_t kMostPools = 1000;
constexpr size_t kMostTextBytes = 1024;

absl::Status CheckName(absl::string_view field, const std::string& name) {
  const bool good = !name.empty() && name.size() <= 64 &&
                    std::all_of(name.begin(), name.end(), [](unsigned char c) {
                      return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
                    });
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": 1 to 64 letters, digits, '_', '.' and '-'"));
}

absl::Status CheckText(absl::string_view field, const std::string& text) {
  if (text.size() <= kMostTextBytes && std::none_of(text.begin(), text.end(), [](unsigned char c) {
        return c < 0x20 || c == 0x7f;
      })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": one line of at most ", kMostTextBytes, " bytes"));
}

absl::Status Check(const v1::ReportPoolRequest& request) {
  const v1::PoolReport& report = request.report();
  RETURN_IF_ERROR(CheckName("report.pool", report.pool()));
  RETURN_IF_ERROR(CheckName("report.holder", report.holder()));
  RETURN_IF_ERROR(CheckText("report.host", report.host()));
  RETURN_IF_ERROR(CheckText("report.provider", report.provider()));
  RETURN_IF_ERROR(CheckText("report.fault", report.fault()));
  RETURN_IF_ERROR(CheckText("report.last_action", report.last_action()));
  if (request.has_hold_for() && (FromProto(request.hold_for()) <= absl::ZeroDuration() ||
                                 FromProto(request.hold_for()) > kLongestHold)) {
    return absl::InvalidArgumentError("hold_for: more than 0 and at most 10 min");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PoolBoard::Report(const v1::ReportPoolRequest& request,
                               std::optional<v1::FleetEvent>* event) {
  RETURN_IF_ERROR(Check(request));
  const v1::PoolReport& report = request.report();
  const absl::Duration hold = request.has_hold_for() ? FromProto(request.hold_for()) : kDefaultHold;
  const absl::Time now = clock_.SteadyNow();
  MutexLock lock(&mu_);
  const auto it = pools_.find(report.pool());
  if (it == pools_.end() && pools_.size() >= kMostPools) {
    return absl::ResourceExhaustedError(absl::StrCat("more than ", kMostPools, " pools"));
  }
  if (it != pools_.end() && it->second.report.holder() != report.holder() &&
      now < it->second.held_until) {
    return absl::AbortedError(absl::StrCat(
        "pool ", report.pool(), " is held by another autoscaler, on ", it->second.report.host(),
        ", for another ",
        absl::FormatDuration(absl::Ceil(it->second.held_until - now, absl::Seconds(1))),
        ": stop one of the two, or give them different pools"));
  }
  const std::string before = it == pools_.end() ? "" : it->second.report.fault();
  if (before.empty() != report.fault().empty()) {
    v1::FleetEvent& told = event->emplace();
    told.set_kind(report.fault().empty() ? v1::FleetEvent::POOL_WELL : v1::FleetEvent::POOL_FAULT);
    told.set_text(
        absl::StrCat("pool ", report.pool(), report.fault().empty() ? "" : ": ", report.fault()));
    *told.mutable_at() = ToProto(clock_.Now());
  }
  Pool& pool = pools_[report.pool()];
  pool.report = report;
  pool.reported_at = clock_.Now();
  pool.held_until = request.release() ? now : now + hold;
  pool.forgotten_after = pool.held_until + kForgetAfter;
  return absl::OkStatus();
}

int64_t PoolBoard::NanoUsdPerHour(const std::string& pool) const {
  MutexLock lock(&mu_);
  const auto it = pools_.find(pool);
  return it == pools_.end() ? 0 : std::max<int64_t>(0, it->second.report.nano_usd_per_hour());
}

std::vector<v1::PoolStatus> PoolBoard::Pools() {
  const absl::Time now = clock_.SteadyNow();
  MutexLock lock(&mu_);
  std::erase_if(pools_, [&](const auto& entry) { return now > entry.second.forgotten_after; });
  std::vector<v1::PoolStatus> pools;
  for (const auto& [name, pool] : pools_) {
    v1::PoolStatus& status = pools.emplace_back();
    *status.mutable_report() = pool.report;
    *status.mutable_last_report_at() = ToProto(pool.reported_at);
    status.set_held(now < pool.held_until);
  }
  return pools;
}

}  // namespace ksearch

#include "autoscaler/spending.h"

#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "proto/autoscaler.pb.h"

namespace ksearch {
namespace {

constexpr int64_t kNano = 1'000'000'000;
constexpr int64_t kMostUsd = 1'000'000;

bool IsDigits(absl::string_view text) {
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return !text.empty();
}

}  // namespace

absl::StatusOr<int64_t> ParseUsd(absl::string_view text) {
  const size_t point = text.find('.');
  const absl::string_view whole = text.substr(0, point);
  std::string fraction(point == absl::string_view::npos ? "0" : text.substr(point + 1));
  int64_t dollars = 0, nano = 0;
  if (!IsDigits(whole) || !IsDigits(fraction) || fraction.size() > 9 ||
      !absl::SimpleAtoi(whole, &dollars) || dollars > kMostUsd) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text.substr(0, 50),
                     "' is not an amount of US dollars; write one such as 2.49, up to ", kMostUsd));
  }
  fraction.append(9 - fraction.size(), '0');
  if (!absl::SimpleAtoi(fraction, &nano)) nano = 0;
  return dollars * kNano + nano;
}

absl::StatusOr<Spending> Spending::Open(const std::string& path) {
  Spending spending(path);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return spending;
  v1::AutoscalerState state;
  RETURN_IF_ERROR(ReadTextproto(path, &state));
  for (const auto& [pool, nano_usd] : state.nano_usd_spent()) spending.nano_usd_[pool] = nano_usd;
  return spending;
}

void Spending::Add(const std::string& pool, int instances, absl::Duration time,
                   int64_t nano_usd_per_hour) {
  const double spent =
      absl::FDivDuration(time, absl::Hours(1)) * instances * static_cast<double>(nano_usd_per_hour);
  if (spent < 1) return;
  nano_usd_[pool] += static_cast<int64_t>(spent);
  changed_ = true;
}

int64_t Spending::Of(const std::string& pool) const {
  const auto it = nano_usd_.find(pool);
  return it == nano_usd_.end() ? 0 : it->second;
}

absl::Status Spending::Save() {
  if (!changed_) return absl::OkStatus();
  v1::AutoscalerState state;
  for (const auto& [pool, nano_usd] : nano_usd_) {
    (*state.mutable_nano_usd_spent())[pool] = nano_usd;
  }
  RETURN_IF_ERROR(WriteFileAtomically(path_, ToTextproto(state)));
  changed_ = false;
  return absl::OkStatus();
}

}  // namespace ksearch

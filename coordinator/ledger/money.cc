#include "coordinator/ledger/money.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

constexpr int kDigits = 9;
// At least this many digits stand after the point.
constexpr size_t kLeastDigits = 2;

}  // namespace

absl::StatusOr<int64_t> ParseUsd(absl::string_view text) {
  const auto fault = [text](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text.substr(0, 40), "' is not an amount in US dollars: ", what));
  };
  const size_t point = text.find('.');
  const absl::string_view whole = text.substr(0, point);
  const absl::string_view fraction =
      point == absl::string_view::npos ? absl::string_view() : text.substr(point + 1);
  const auto digits = [](absl::string_view part) {
    return std::all_of(part.begin(), part.end(), [](char c) { return absl::ascii_isdigit(c); });
  };
  if ((whole.empty() && fraction.empty()) || !digits(whole) || !digits(fraction)) {
    return fault("write it like 12 or 0.05");
  }
  if (fraction.size() > kDigits) return fault("at most 9 digits after the point");
  int64_t nano = 0;
  for (const char c : whole) {
    nano = nano * 10 + (c - '0');
    if (nano > kMaxUsd) return fault(absl::StrCat("at most ", kMaxUsd));
  }
  for (int i = 0; i < kDigits; ++i) {
    nano *= 10;
    if (static_cast<size_t>(i) < fraction.size()) nano += fraction[static_cast<size_t>(i)] - '0';
  }
  return nano;
}

std::string UsdText(int64_t nano_usd, int digits) {
  int64_t unit = 1;
  for (int i = digits; i < kDigits; ++i) unit *= 10;
  const int64_t rounded = (nano_usd + unit - 1) / unit * unit;
  std::string fraction = absl::StrCat(rounded % kNanoPerUsd);
  fraction.insert(0, kDigits - fraction.size(), '0');
  fraction.resize(static_cast<size_t>(digits));
  while (fraction.size() > kLeastDigits && fraction.back() == '0') fraction.pop_back();
  return absl::StrCat("$", rounded / kNanoPerUsd, fraction.empty() ? "" : ".", fraction);
}

}  // namespace ksearch

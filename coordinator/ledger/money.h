#ifndef KSEARCH_COORDINATOR_LEDGER_MONEY_H_
#define KSEARCH_COORDINATOR_LEDGER_MONEY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// Money is counted in integer nano-dollars, so that sums are exact in any order.
inline constexpr int64_t kNanoPerUsd = 1'000'000'000;
// More than any run can cost. The limit keeps sums of caps and reservations far from overflow.
inline constexpr int64_t kMaxUsd = 1'000'000;

// Parses "12", "0.05" or ".5" into nano-dollars, exactly. INVALID_ARGUMENT: not a plain decimal
// number, negative, more than 9 digits after the point, or more than kMaxUsd.
absl::StatusOr<int64_t> ParseUsd(absl::string_view text);

// Formats as "$1.25" or "$0.000042": at least two digits after the point, at most `digits`, rounded
// up so that spent money never reads as zero.
std::string UsdText(int64_t nano_usd, int digits = 6);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LEDGER_MONEY_H_

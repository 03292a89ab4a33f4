#ifndef KSEARCH_COORDINATOR_LEDGER_MONEY_H_
#define KSEARCH_COORDINATOR_LEDGER_MONEY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// Money is counted in integer nano-dollars: sums of it are exact, whatever their order.
inline constexpr int64_t kNanoPerUsd = 1'000'000'000;
// More than any run can cost; keeps sums of caps and reservations far from overflow.
inline constexpr int64_t kMaxUsd = 1'000'000;

// "12", "0.05", ".5" -> nano-dollars, exactly. INVALID_ARGUMENT: no plain decimal number, negative,
// more than 9 digits after the point, or more than kMaxUsd.
absl::StatusOr<int64_t> ParseUsd(absl::string_view text);

// "$1.25", "$0.000042": at least two digits after the point, at most `digits`, rounded up, so that
// what was spent never reads as nothing.
std::string UsdText(int64_t nano_usd, int digits = 6);

// The same without a currency sign and with all digits needed: ParseUsd reads it back.
std::string UsdDecimal(int64_t nano_usd);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LEDGER_MONEY_H_

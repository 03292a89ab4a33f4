#include "coordinator/ledger/call_cost.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

constexpr int64_t kTokensPerPrice = 1'000'000;
// Role markers and the like that a provider's chat template adds to two messages.
constexpr int64_t kTemplateTokens = 64;

const v1::ResolvedPrice::Rates& RatesFor(const v1::ResolvedPrice& price, int64_t input_tokens) {
  return price.has_long_input_rates() && input_tokens > price.long_input_above()
             ? price.long_input_rates()
             : price.rates();
}

// 128 bits: a price of a million dollars times a billion tokens does not overflow.
int64_t Nano(__int128 nano_times_million) {
  const __int128 nano = (nano_times_million + kTokensPerPrice - 1) / kTokensPerPrice;
  return static_cast<int64_t>(std::min<__int128>(nano, INT64_MAX / 4));
}

}  // namespace

int64_t CostNano(const v1::ResolvedPrice& price, const TokenUsage& usage) {
  const v1::ResolvedPrice::Rates& rates = RatesFor(price, usage.input());
  const auto part = [](int64_t tokens, int64_t rate) {
    return static_cast<__int128>(std::max<int64_t>(tokens, 0)) * rate;
  };
  return Nano(
      part(usage.uncached_input, rates.input()) + part(usage.cache_read, rates.cache_read()) +
      part(usage.cache_write_5m, rates.cache_write_5m()) +
      part(usage.cache_write_1h, rates.cache_write_1h()) +
      part(usage.visible_output, rates.output()) + part(usage.reasoning_output, rates.reasoning()));
}

WorstCase WorstCaseOf(const v1::ResolvedPrice& price, size_t prompt_bytes, int max_output_tokens) {
  const int64_t input = static_cast<int64_t>(prompt_bytes) + kTemplateTokens;
  const auto worst = [&](const v1::ResolvedPrice::Rates& rates) {
    const int64_t in = std::max(std::max(rates.input(), rates.cache_read()),
                                std::max(rates.cache_write_5m(), rates.cache_write_1h()));
    const int64_t out = std::max(rates.output(), rates.reasoning());
    return Nano(static_cast<__int128>(input) * in + static_cast<__int128>(max_output_tokens) * out);
  };
  WorstCase result;
  result.tokens = input + max_output_tokens;
  result.nano_usd = worst(price.rates());
  if (price.has_long_input_rates() && input > price.long_input_above()) {
    result.nano_usd = std::max(result.nano_usd, worst(price.long_input_rates()));
  }
  return result;
}

std::string LedgerScope(absl::string_view provider, absl::string_view model) {
  return absl::StrCat(provider, "/", model);
}

}  // namespace ksearch

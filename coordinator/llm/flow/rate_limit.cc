#include "coordinator/llm/flow/rate_limit.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

constexpr absl::Duration kLongestPause = absl::Minutes(2);

using Headers = std::map<std::string, std::string>;

std::optional<int64_t> Number(const Headers& headers, const std::string& name) {
  const auto header = headers.find(name);
  int64_t number = 0;
  if (header == headers.end() || !absl::SimpleAtoi(header->second, &number)) return std::nullopt;
  return number;
}

// "6m0s", "120ms", "7" (seconds), or a time of day as in RFC 3339.
std::optional<absl::Duration> TimeLeft(const Headers& headers, const std::string& name,
                                       absl::Time now) {
  const auto header = headers.find(name);
  if (header == headers.end()) return std::nullopt;
  absl::Duration left;
  if (absl::ParseDuration(header->second, &left)) return left;
  double seconds = 0;
  if (absl::SimpleAtod(header->second, &seconds)) return absl::Seconds(seconds);
  absl::Time when;
  if (absl::ParseTime(absl::RFC3339_full, header->second, &when, nullptr)) return when - now;
  return std::nullopt;
}

absl::Duration Pause(std::optional<int64_t> limit, std::optional<int64_t> remaining,
                     std::optional<absl::Duration> reset, int64_t needed) {
  // Some servers report -1 for what they do not count.
  if (!limit || !remaining || !reset || *remaining < 0 || *limit <= *remaining) {
    return absl::ZeroDuration();
  }
  needed = std::min(needed, *limit);
  if (*remaining >= needed) return absl::ZeroDuration();
  const double share =
      static_cast<double>(needed - *remaining) / static_cast<double>(*limit - *remaining);
  return std::clamp(*reset * share, absl::ZeroDuration(), kLongestPause);
}

}  // namespace

absl::Duration RateLimitPause(const Headers& headers, const TokenUsage& used, absl::Time now) {
  const struct {
    const char* name;
    int64_t needed;
  } limits[] = {{"requests", 1},
                {"tokens", used.input() + used.output()},
                {"input-tokens", used.uncached_input},
                {"output-tokens", used.output()}};
  absl::Duration pause;
  for (const auto& limit : limits) {
    // x-ratelimit-remaining-requests, but anthropic-ratelimit-requests-remaining.
    const auto openai = [&](const char* what) {
      return absl::StrCat("x-ratelimit-", what, "-", limit.name);
    };
    const auto anthropic = [&](const char* what) {
      return absl::StrCat("anthropic-ratelimit-", limit.name, "-", what);
    };
    pause = std::max(pause,
                     Pause(Number(headers, openai("limit")), Number(headers, openai("remaining")),
                           TimeLeft(headers, openai("reset"), now), limit.needed));
    pause = std::max(
        pause, Pause(Number(headers, anthropic("limit")), Number(headers, anthropic("remaining")),
                     TimeLeft(headers, anthropic("reset"), now), limit.needed));
  }
  return pause;
}

}  // namespace ksearch

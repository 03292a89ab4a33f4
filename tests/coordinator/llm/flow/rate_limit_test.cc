#include "coordinator/llm/flow/rate_limit.h"

#include "gtest/gtest.h"

namespace ksearch {
namespace {

constexpr absl::Time kNow = absl::UnixEpoch();
constexpr TokenUsage kUsed = {.uncached_input = 900, .cache_read = 100, .visible_output = 1000};

absl::Duration Pause(const std::map<std::string, std::string>& headers) {
  return RateLimitPause(headers, kUsed, kNow);
}

TEST(RateLimitTest, NothingSaidOrEnoughLeftIsNoPause) {
  EXPECT_EQ(Pause({}), absl::ZeroDuration());
  EXPECT_EQ(Pause({{"x-ratelimit-limit-requests", "60"},
                   {"x-ratelimit-remaining-requests", "1"},
                   {"x-ratelimit-reset-requests", "1m0s"}}),
            absl::ZeroDuration());
  EXPECT_EQ(Pause({{"x-ratelimit-limit-tokens", "-1"},
                   {"x-ratelimit-remaining-tokens", "-1"},
                   {"x-ratelimit-reset-tokens", "1s"}}),
            absl::ZeroDuration());
  EXPECT_EQ(Pause({{"x-ratelimit-limit-tokens", "lots"},
                   {"x-ratelimit-remaining-tokens", "0"},
                   {"x-ratelimit-reset-tokens", "soon"}}),
            absl::ZeroDuration());
}

TEST(RateLimitTest, WaitsUntilThereIsRoomForACallLikeTheLast) {
  EXPECT_EQ(Pause({{"x-ratelimit-limit-requests", "60"},
                   {"x-ratelimit-remaining-requests", "0"},
                   {"x-ratelimit-reset-requests", "1m0s"}}),
            absl::Seconds(1));
  EXPECT_EQ(Pause({{"x-ratelimit-limit-tokens", "10000"},
                   {"x-ratelimit-remaining-tokens", "0"},
                   {"x-ratelimit-reset-tokens", "120ms"}}),
            absl::Milliseconds(24));
  EXPECT_EQ(Pause({{"anthropic-ratelimit-input-tokens-limit", "1800"},
                   {"anthropic-ratelimit-input-tokens-remaining", "0"},
                   {"anthropic-ratelimit-input-tokens-reset", "1970-01-01T00:00:10Z"}}),
            absl::Seconds(5));
}

TEST(RateLimitTest, TheLongestCountsUpToABound) {
  EXPECT_EQ(Pause({{"x-ratelimit-limit-requests", "60"},
                   {"x-ratelimit-remaining-requests", "0"},
                   {"x-ratelimit-reset-requests", "60"},
                   {"x-ratelimit-limit-tokens", "1000"},
                   {"x-ratelimit-remaining-tokens", "0"},
                   {"x-ratelimit-reset-tokens", "24h"}}),
            absl::Minutes(2));
  EXPECT_EQ(Pause({{"anthropic-ratelimit-requests-limit", "1"},
                   {"anthropic-ratelimit-requests-remaining", "0"},
                   {"anthropic-ratelimit-requests-reset", "1969-12-31T23:59:00Z"}}),
            absl::ZeroDuration());
}

}  // namespace
}  // namespace ksearch

#include "coordinator/llm/flow/call_gate.h"

#include <vector>

#include "common/rng.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

constexpr absl::Time kStart = absl::UnixEpoch();

TEST(CallGateTest, ConcurrencyGrowsByAnswersAndIsHalvedByThrottling) {
  CallGate gate(GateOptions{});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(gate.TryEnter(kStart), absl::ZeroDuration());
  EXPECT_EQ(gate.TryEnter(kStart), absl::InfiniteDuration());
  for (int i = 0; i < 4; ++i) gate.Leave(AttemptEnd::kAnswered, kStart, kStart);
  for (int i = 0; i < 36; ++i) {
    ASSERT_EQ(gate.TryEnter(kStart), absl::ZeroDuration());
    gate.Leave(AttemptEnd::kAnswered, kStart, kStart);
  }
  EXPECT_EQ(gate.limit(), 8);
  // A burst of refusals is one sign, not four.
  const absl::Time later = kStart + absl::Seconds(5);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(gate.TryEnter(kStart), absl::ZeroDuration());
  for (int i = 0; i < 4; ++i) gate.Leave(AttemptEnd::kThrottled, kStart, later);
  EXPECT_EQ(gate.limit(), 4);
  ASSERT_EQ(gate.TryEnter(later), absl::ZeroDuration());
  gate.Leave(AttemptEnd::kThrottled, later, later);
  EXPECT_EQ(gate.limit(), 2);
}

TEST(CallGateTest, LimitStaysWithinBounds) {
  GateOptions options;
  options.max_concurrency = 5;
  options.breaker_failures = 1000;
  CallGate gate(options);
  absl::Time now = kStart;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(gate.TryEnter(now), absl::ZeroDuration());
    gate.Leave(AttemptEnd::kAnswered, now, now);
  }
  EXPECT_EQ(gate.limit(), 5);
  for (int i = 0; i < 10; ++i) {
    now += absl::Seconds(1);
    ASSERT_EQ(gate.TryEnter(now), absl::ZeroDuration());
    gate.Leave(AttemptEnd::kThrottled, now, now);
  }
  EXPECT_EQ(gate.limit(), 1);
}

TEST(CallGateTest, BreakerOpensClosesAndOpensAgain) {
  CallGate gate(GateOptions{});
  const auto fail = [&](absl::Time now) {
    ASSERT_EQ(gate.TryEnter(now), absl::ZeroDuration());
    gate.Leave(AttemptEnd::kFailed, now, now);
  };
  for (int i = 0; i < 4; ++i) fail(kStart);
  ASSERT_EQ(gate.TryEnter(kStart), absl::ZeroDuration());
  gate.Leave(AttemptEnd::kAnswered, kStart, kStart);  // not in a row
  for (int i = 0; i < 5; ++i) fail(kStart);
  EXPECT_EQ(gate.TryEnter(kStart + absl::Seconds(10)), absl::Seconds(20));
  const absl::Time probe = kStart + absl::Seconds(30);
  ASSERT_EQ(gate.TryEnter(probe), absl::ZeroDuration());
  EXPECT_EQ(gate.TryEnter(probe), absl::InfiniteDuration());  // only one
  gate.Leave(AttemptEnd::kFailed, probe, probe);
  EXPECT_EQ(gate.TryEnter(probe), absl::Seconds(30));
  const absl::Time second = probe + absl::Seconds(30);
  ASSERT_EQ(gate.TryEnter(second), absl::ZeroDuration());
  gate.Leave(AttemptEnd::kCancelled, second, second);  // no verdict: the next one tries
  ASSERT_EQ(gate.TryEnter(second), absl::ZeroDuration());
  gate.Leave(AttemptEnd::kAnswered, second, second);
  EXPECT_EQ(gate.TryEnter(second), absl::ZeroDuration());
  EXPECT_EQ(gate.TryEnter(second), absl::ZeroDuration());
}

TEST(CallGateTest, ClosedUntilTheLatestWish) {
  CallGate gate(GateOptions{});
  gate.CloseUntil(kStart + absl::Seconds(20));
  gate.CloseUntil(kStart + absl::Seconds(5));
  EXPECT_EQ(gate.TryEnter(kStart), absl::Seconds(20));
  EXPECT_EQ(gate.TryEnter(kStart + absl::Seconds(20)), absl::ZeroDuration());
}

// Whatever happens, the calls in flight never exceed the current limit.
TEST(CallGateTest, NeverMoreInFlightThanAllowed) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    GateOptions options;
    options.max_concurrency = 8;
    CallGate gate(options);
    absl::Time now = kStart;
    std::vector<absl::Time> in_flight;
    for (int step = 0; step < 500; ++step) {
      now += absl::Milliseconds(static_cast<int64_t>(rng.Next() % 2000));
      if (rng.Next() % 2 == 0) {
        const size_t limit = static_cast<size_t>(gate.limit());
        if (gate.TryEnter(now) == absl::ZeroDuration()) {
          in_flight.push_back(now);
          ASSERT_LE(in_flight.size(), limit);
        }
      } else if (!in_flight.empty()) {
        gate.Leave(static_cast<AttemptEnd>(rng.Next() % 4), in_flight.back(), now);
        in_flight.pop_back();
      }
      ASSERT_GE(gate.limit(), 1);
      ASSERT_LE(gate.limit(), 8);
    }
  }
}

TEST(CallGatesTest, OneGatePerName) {
  CallGates gates;
  EXPECT_EQ(gates.Named("a", GateOptions{}), gates.Named("a", GateOptions{}));
  EXPECT_NE(gates.Named("a", GateOptions{}), gates.Named("b", GateOptions{}));
}

}  // namespace
}  // namespace ksearch

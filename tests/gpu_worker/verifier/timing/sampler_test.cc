#include "gpu_worker/verifier/timing/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(RotationSetsTest, FollowsTheCacheWithinItsLimits) {
  EXPECT_EQ(RotationSets(4 * kMiB, 32 * kMiB, 512 * kMiB), 25);
  EXPECT_EQ(RotationSets(kMiB / 4, 32 * kMiB, 512 * kMiB), 64);
  EXPECT_EQ(RotationSets(200 * kMiB, 32 * kMiB, 512 * kMiB), 2);
  EXPECT_EQ(RotationSets(100 * kMiB, 512 * kMiB, 512 * kMiB), 5);
  EXPECT_EQ(RotationSets(600 * kMiB, 32 * kMiB, 512 * kMiB), 1);
  EXPECT_EQ(RotationSets(0, 32 * kMiB, 512 * kMiB), 64);
}

TEST(CallDealerTest, EverySetButADecoyOnceARoundInAnotherOrder) {
  constexpr size_t kRound = 15;
  ASSERT_EQ(WorkloadSession::Decoys(16), 1);
  CallDealer dealer(16, {}, Rng(1));
  std::vector<std::vector<int>> rounds;
  std::set<int64_t> variants;
  for (int round = 0; round < 3; ++round) {
    std::vector<int>& order = rounds.emplace_back();
    while (order.size() < kRound) {
      for (const WorkloadSession::Call& call : dealer.Deal(5, 0)) {
        order.push_back(call.set);
        EXPECT_TRUE(variants.insert(call.variant).second) << "a variant came twice";
      }
    }
    EXPECT_EQ(order.size(), kRound);
    EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), kRound);
  }
  EXPECT_NE(rounds[0], rounds[1]);
}

TEST(CallDealerTest, NoBatchHasAllSetsAndNoSetIsAlwaysLeftOut) {
  CallDealer dealer(3, {}, Rng(1));
  std::set<int> sets;
  for (int i = 0; i < 30; ++i) {
    const std::vector<WorkloadSession::Call> calls = dealer.Deal(3, 0);
    EXPECT_EQ(calls.size(), 2u);
    for (const WorkloadSession::Call& call : calls) sets.insert(call.set);
  }
  EXPECT_EQ(sets.size(), 3u);
  // With two sets none can be left unused.
  EXPECT_EQ(CallDealer(2, {}, Rng(1)).Deal(2, 0).size(), 2u);
}

TEST(CallDealerTest, OraclesAreUsedOnceAtRandomPlaces) {
  std::set<size_t> places;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    CallDealer dealer(8, {2, 3, 4}, Rng(seed));
    std::multiset<int64_t> used;
    for (int deal = 0; deal < 5; ++deal) {
      const std::vector<WorkloadSession::Call> calls = dealer.Deal(8, 1);
      for (size_t i = 0; i < calls.size(); ++i) {
        if (calls[i].variant >= kFirstFreshVariant) continue;
        used.insert(calls[i].variant);
        places.insert(i);
      }
    }
    EXPECT_EQ(used, (std::multiset<int64_t>{2, 3, 4}));
    EXPECT_EQ(dealer.oracled_left(), 0);
  }
  EXPECT_EQ(places.size(), 7u);  // the eighth set is a decoy
}

TEST(CallDealerTest, AThirdOfTheOraclesIsKeptForTheLastBatch) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    CallDealer dealer(64, {2, 3, 4, 5, 6, 7}, Rng(seed));
    for (int i = 0; i < 30; ++i) dealer.Deal(2, dealer.DrawOracles());
    EXPECT_EQ(dealer.oracled_left(), 2) << seed;
  }
}

TEST(CallDealerTest, WhichVariantsComeWhenIsDrawn) {
  std::set<int64_t> first_fresh, first_oracled;
  std::set<int> counts;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    CallDealer dealer(8, {2, 3, 4, 5}, Rng(seed));
    counts.insert(dealer.DrawOracles());
    first_fresh.insert(dealer.Deal(1, 0)[0].variant);
    first_oracled.insert(dealer.Deal(1, 1)[0].variant);
    dealer.Deal(6, 3);
    EXPECT_EQ(dealer.DrawOracles(), 0) << "none is left";
  }
  EXPECT_EQ(counts, (std::set<int>{0, 1, 2}));
  EXPECT_GT(first_fresh.size(), 30u);
  EXPECT_EQ(first_oracled, (std::set<int64_t>{2, 3, 4, 5}));
}

WorkloadSession::Batch BatchOf(absl::Duration inner, absl::Duration audit, absl::Duration waited) {
  WorkloadSession::Batch batch;
  batch.calls = 10;
  batch.latency_us.assign(10, absl::ToDoubleMicroseconds(inner) / 10);
  batch.inner = inner;
  batch.audit = audit;
  batch.waited = waited;
  return batch;
}

TEST(BelievedLatencyTest, WorkOfManyCallsInOneOfThemCountsForAll) {
  // Eight calls a batch: the first takes 80 us, the others nothing.
  std::vector<double> ahead;
  for (int i = 0; i < 32; ++i) ahead.push_back(i % 8 == 0 ? 80 : 0.01);
  const std::vector<double> believed = BelievedLatency(ahead, {10, 10, 10, 10});
  EXPECT_EQ(Summarize(believed).median_us(), 10);
  EXPECT_EQ(believed.size(), ahead.size());
  // One batch reports nothing at all; the audit looks at most of them.
  EXPECT_EQ(Summarize(BelievedLatency(ahead, {10, 0.01, 10, 10})).median_us(), 10);
}

TEST(BelievedLatencyTest, FewLongCallsDoNotCount) {
  // One batch of four contains a pause.
  std::vector<double> latency_us(32, 10);
  latency_us[3] = 5000;
  EXPECT_EQ(BelievedLatency(latency_us, {634, 10, 10, 10}), latency_us);
  EXPECT_EQ(BelievedLatency(latency_us, {634, 10}), latency_us);
}

TEST(ClockAuditTest, HonestClocksPass) {
  ClockAudit audit;
  for (int i = 0; i < 9; ++i) {
    audit.AddRoundTrip(absl::Microseconds(40 + i));
    audit.AddBatch(BatchOf(absl::Milliseconds(1), absl::Microseconds(1050), absl::ZeroDuration()));
  }
  EXPECT_FALSE(audit.TimeEscaped());
  EXPECT_NEAR(audit.Ratio(), 1.01, 1e-6);
}

TEST(ClockAuditTest, ABusyMachineIsNoCheat) {
  ClockAudit audit;
  for (int i = 0; i < 9; ++i) {
    audit.AddRoundTrip(absl::Microseconds(40));
    audit.AddBatch(BatchOf(absl::Milliseconds(1), absl::Milliseconds(9), absl::Microseconds(7960)));
  }
  EXPECT_FALSE(audit.TimeEscaped());
  EXPECT_NEAR(audit.Ratio(), 1.0, 1e-6);
}

TEST(ClockAuditTest, AForgedClockShows) {
  ClockAudit audit;
  for (int i = 0; i < 9; ++i) {
    audit.AddRoundTrip(absl::Microseconds(40));
    audit.AddBatch(BatchOf(absl::Microseconds(500), absl::Milliseconds(1), absl::ZeroDuration()));
  }
  EXPECT_TRUE(audit.TimeEscaped());
  EXPECT_NEAR(audit.Ratio(), 1.92, 1e-6);
}

TEST(ClockAuditTest, OnePauseOfManyDoesNotDecide) {
  ClockAudit audit;
  for (int i = 0; i < 9; ++i) {
    audit.AddRoundTrip(absl::Microseconds(40));
    audit.AddBatch(BatchOf(absl::Milliseconds(1),
                           i == 4 ? absl::Milliseconds(30) : absl::Microseconds(1050),
                           absl::ZeroDuration()));
  }
  EXPECT_FALSE(audit.TimeEscaped());
}

}  // namespace
}  // namespace ksearch

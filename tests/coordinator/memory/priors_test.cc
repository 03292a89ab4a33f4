#include "coordinator/memory/priors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

v1::MeasuredGain Gain(const std::string& candidate, const std::string& op_type,
                      v1::IntentKind intent, double speedup) {
  v1::MeasuredGain gain;
  gain.set_run_id("run");
  gain.set_candidate_id(candidate);
  gain.set_task(absl::StrCat("task of ", op_type));
  gain.set_op_type(op_type);
  gain.set_architecture("sm_90a");
  gain.set_language(v1::LANGUAGE_CUDA);
  gain.set_intent(intent);
  gain.set_bottleneck(v1::BOTTLENECK_MEMORY_BANDWIDTH);
  gain.set_passed(speedup > 0);
  if (speedup > 0) gain.set_speedup(speedup);
  return gain;
}

TEST(PriorsTest, CountsAndQuartilesAreThoseOfTheGains) {
  const v1::MemorySnapshot snapshot = SnapshotOf(
      {
          Gain("a", "norm", v1::INTENT_KIND_TILE, 1.0),
          Gain("b", "norm", v1::INTENT_KIND_TILE, 2.0),
          Gain("c", "norm", v1::INTENT_KIND_TILE, 1.5),
          Gain("d", "norm", v1::INTENT_KIND_TILE, 3.0),
          Gain("e", "norm", v1::INTENT_KIND_TILE, 0.5),
          Gain("f", "norm", v1::INTENT_KIND_TILE, 0),
          Gain("g", "gemm", v1::INTENT_KIND_TILE, 4.0),
      },
      "norm", absl::FromUnixSeconds(7));
  EXPECT_EQ(snapshot.gains(), 7);
  EXPECT_EQ(snapshot.read_at().seconds(), 7);
  ASSERT_EQ(snapshot.priors_size(), 2);
  const v1::MemoryPrior& prior = snapshot.priors(0);
  EXPECT_TRUE(prior.same_op_type());
  EXPECT_EQ(prior.tried(), 6);
  EXPECT_EQ(prior.passed(), 5);
  EXPECT_EQ(prior.faster(), 3);
  EXPECT_EQ(prior.tasks(), 1);
  EXPECT_DOUBLE_EQ(prior.median_speedup(), 1.5);
  EXPECT_DOUBLE_EQ(prior.low_speedup(), 1.0);
  EXPECT_DOUBLE_EQ(prior.high_speedup(), 2.0);
  EXPECT_FALSE(snapshot.priors(1).same_op_type());
  EXPECT_EQ(snapshot.priors(1).tried(), 1);
}

TEST(PriorsTest, AProgramThatSeveralRunsCameUponCountsOnce) {
  v1::MeasuredGain again = Gain("a", "norm", v1::INTENT_KIND_TILE, 9);
  again.set_run_id("another");
  v1::MeasuredGain elsewhere = Gain("a", "norm", v1::INTENT_KIND_TILE, 1.1);
  elsewhere.set_architecture("sm_100a");
  const v1::MemorySnapshot snapshot = SnapshotOf(
      {Gain("a", "norm", v1::INTENT_KIND_TILE, 1.2), again, elsewhere}, "norm", absl::UnixEpoch());
  ASSERT_EQ(snapshot.priors_size(), 1);
  EXPECT_EQ(snapshot.priors(0).tried(), 2);
  EXPECT_LT(snapshot.priors(0).high_speedup(), 1.3);
}

TEST(PriorsTest, WhatNamesNoIntentCountsTogether) {
  const std::vector<v1::MeasuredGain> gains = {Gain("a", "norm", v1::INTENT_KIND_UNSPECIFIED, 1.2),
                                               Gain("b", "norm", v1::INTENT_KIND_FUSE, 1.2)};
  EXPECT_EQ(SnapshotOf(gains, "norm", absl::UnixEpoch()).priors_size(), 2);
  const std::vector<v1::MemoryGroup> groups = GroupsOf(gains);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].op_type(), "norm");
  EXPECT_EQ(groups[0].architecture(), "sm_90a");
  EXPECT_EQ(groups[0].priors_size(), 2);
}

TEST(PriorsTest, TheSameOperationComesFirstThenWhatWasTriedMost) {
  std::vector<v1::MeasuredGain> gains;
  for (int i = 0; i < 9; ++i) {
    gains.push_back(Gain(absl::StrCat("x", i), "gemm", v1::INTENT_KIND_TILE, 1.5));
  }
  gains.push_back(Gain("a", "norm", v1::INTENT_KIND_FUSE, 1.5));
  gains.push_back(Gain("b", "norm", v1::INTENT_KIND_UNROLL, 1.5));
  gains.push_back(Gain("c", "norm", v1::INTENT_KIND_UNROLL, 1.5));
  std::vector<v1::IntentKind> intents;
  const v1::MemorySnapshot snapshot = SnapshotOf(gains, "norm", absl::UnixEpoch());
  for (const v1::MemoryPrior& prior : snapshot.priors()) intents.push_back(prior.intent());
  EXPECT_THAT(intents, testing::ElementsAre(v1::INTENT_KIND_UNROLL, v1::INTENT_KIND_FUSE,
                                            v1::INTENT_KIND_TILE));
}

TEST(PriorsTest, AtMostSixtyFour) {
  std::vector<v1::MeasuredGain> gains;
  for (int bottleneck = 0; bottleneck <= v1::Bottleneck_MAX; ++bottleneck) {
    for (int intent = 1; intent <= v1::IntentKind_MAX; ++intent) {
      gains.push_back(Gain(absl::StrCat(bottleneck, "/", intent), "norm",
                           static_cast<v1::IntentKind>(intent), 1.5));
      gains.back().set_bottleneck(static_cast<v1::Bottleneck>(bottleneck));
    }
  }
  EXPECT_EQ(SnapshotOf(gains, "norm", absl::UnixEpoch()).priors_size(), kMostPriors);
}

}  // namespace
}  // namespace ksearch

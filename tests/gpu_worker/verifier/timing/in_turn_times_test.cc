#include "gpu_worker/verifier/timing/in_turn_times.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

InTurnTimes Of(double rival_us, double candidate_us) {
  InTurnTimes times;
  for (const double delay_us : {0.0, 0.0, 0.0, 900.0, 2000.0}) {
    times.Add(false, rival_us + delay_us);
    times.Add(true, candidate_us + delay_us);
  }
  return times;
}

TEST(InTurnTimesTest, NothingIsKnownWithoutCallsOfBothSides) {
  InTurnTimes times;
  EXPECT_TRUE(times.empty());
  EXPECT_EQ(times.ExtraMicros(10, 10), 0);
  EXPECT_EQ(times.Summary(), "");
  times.Add(true, 100);
  EXPECT_TRUE(times.empty());
  EXPECT_EQ(times.ExtraMicros(10, 10), 0);
}

TEST(InTurnTimesTest, AProgramThatIsAsFastInTurnPaysNothing) {
  EXPECT_EQ(Of(20, 10).ExtraMicros(20, 10), 0);
  EXPECT_EQ(Of(20.5, 10.5).ExtraMicros(20, 10), 0);
  EXPECT_EQ(Of(20, 8).ExtraMicros(20, 10), 0);
}

TEST(InTurnTimesTest, WorkDoneAheadCountsInFull) {
  EXPECT_DOUBLE_EQ(Of(14, 14).ExtraMicros(14, 3), 11);
  // What a batch costs beside its calls is in both sides' times.
  EXPECT_DOUBLE_EQ(Of(14, 14).ExtraMicros(20, 9), 11);
}

TEST(InTurnTimesTest, ADisturbedRivalMakesTheCandidateNoFaster) {
  EXPECT_DOUBLE_EQ(Of(14, 7).ExtraMicros(28, 7), 7);
}

TEST(InTurnTimesTest, ACandidateThatIsFasterInTurnIsNotMadeFaster) {
  EXPECT_EQ(Of(20, 5).ExtraMicros(20, 10), 0);
}

TEST(InTurnTimesTest, AShortCallMayTakeAHalfMicrosecondMore) {
  EXPECT_EQ(Of(1.3, 0.95).ExtraMicros(1, 0.65), 0);
  EXPECT_GT(Of(2, 2).ExtraMicros(2, 1.2), 0);
}

TEST(InTurnTimesTest, WhatACallTakesLongerThanInABatchDoesNotDependOnADisturbedRival) {
  EXPECT_DOUBLE_EQ(Of(14, 14).LongerMicros(14, 3), 11);
  EXPECT_DOUBLE_EQ(Of(14, 7).LongerMicros(28, 7), 0);
  EXPECT_DOUBLE_EQ(Of(15, 8).LongerMicros(14, 7), 0);
  EXPECT_LT(Of(14, 7).LongerMicros(14, 9), 0);
  EXPECT_EQ(InTurnTimes().LongerMicros(14, 7), 0);
}

TEST(InTurnTimesTest, TheLogShowsBothSides) { EXPECT_EQ(Of(60, 20).Summary(), "in_turn_us=60/20"); }

}  // namespace
}  // namespace ksearch

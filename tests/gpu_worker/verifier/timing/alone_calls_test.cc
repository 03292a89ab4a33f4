#include "gpu_worker/verifier/timing/alone_calls.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

AloneCalls Of(double rival_us, double candidate_us) {
  AloneCalls calls(0.25, 2);
  // A call that met something else does not count.
  for (const double us : {1.0, 0.0, 900.0}) {
    calls.Add(false, us == 1 ? rival_us : us);
    calls.Add(true, us == 1 ? candidate_us : us);
  }
  return calls;
}

TEST(AloneCallsTest, NothingIsKnownWithoutCallsOfBothSides) {
  AloneCalls calls(0.25, 2);
  EXPECT_EQ(calls.ExtraMicros(10, 10), 0);
  calls.Add(true, 100);
  EXPECT_TRUE(calls.empty());
  EXPECT_EQ(calls.ExtraMicros(10, 10), 0);
  EXPECT_EQ(calls.Summary(), "");
}

TEST(AloneCallsTest, CallsThatAreAsFastByThemselvesCostNothingMore) {
  EXPECT_EQ(Of(60, 20).ExtraMicros(60, 20), 0);
  EXPECT_EQ(Of(60, 15).ExtraMicros(60, 20), 0);
}

TEST(AloneCallsTest, WhatColdCodeCostsIsAllowed) {
  EXPECT_EQ(Of(60, 26).ExtraMicros(60, 20), 0);
  EXPECT_GT(Of(60, 28).ExtraMicros(60, 20), 0);
}

TEST(AloneCallsTest, WorkDoneAheadCountsInFull) {
  EXPECT_DOUBLE_EQ(Of(60, 62).ExtraMicros(60, 6), 56);
}

TEST(AloneCallsTest, WhatTheRivalPaysTooIsNotCounted) {
  EXPECT_EQ(Of(70, 36).ExtraMicros(60, 20), 0);
  EXPECT_DOUBLE_EQ(Of(70, 80).ExtraMicros(60, 20), 50);
}

TEST(AloneCallsTest, ASlowRivalExcusesOnlySoMuch) {
  EXPECT_DOUBLE_EQ(Of(1000, 100).ExtraMicros(60, 6), 94 - (0.25 * 60 + 2));
}

TEST(AloneCallsTest, WhatEveryCallAloneCostsIsNotCounted) {
  EXPECT_EQ(Of(140, 100).ExtraMicros(60, 20, 80), 0);
  EXPECT_DOUBLE_EQ(Of(140, 150).ExtraMicros(60, 20, 80), 50);
  EXPECT_DOUBLE_EQ(Of(1000, 200).ExtraMicros(60, 20, 80), 180 - (0.25 * 60 + 2) - 80);
}

TEST(AloneCallsTest, TheLogShowsBothSides) { EXPECT_EQ(Of(60, 20).Summary(), "alone_us=60/20"); }

}  // namespace
}  // namespace ksearch

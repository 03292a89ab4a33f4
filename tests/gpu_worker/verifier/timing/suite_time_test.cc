#include "gpu_worker/verifier/timing/suite_time.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

TEST(SuiteTimeTest, AllCallsCountWhereNothingEndsThemBefore) {
  v1::SuiteClock clock;
  clock.set_calls(4);
  EXPECT_EQ(CallsThatCount({5, 5, 5}, clock), 0u);
  EXPECT_EQ(CallsThatCount({5, 5, 5, 9}, clock), 4u);
  EXPECT_EQ(CallsThatCount({5, 5, 5, 9, 1}, clock), 4u);
  EXPECT_EQ(CallsThatCount({}, clock), 0u);
}

TEST(SuiteTimeTest, CallsEndOnceTheStandardErrorIsSmallButNotBeforeTheThird) {
  v1::SuiteClock clock;
  clock.set_calls(100);
  clock.set_relative_error(0.01);
  EXPECT_EQ(CallsThatCount({5, 5}, clock), 0u);
  EXPECT_EQ(CallsThatCount({5, 5, 5, 5}, clock), 3u);
  // The deviation of 90, 110, 100, 100 is 8.2 and the standard error 4.1.
  EXPECT_EQ(CallsThatCount({90, 110, 100, 100}, clock), 0u);
  clock.set_relative_error(0.042);
  EXPECT_EQ(CallsThatCount({90, 110, 100, 100}, clock), 4u);
}

TEST(SuiteTimeTest, CallsEndOnceTheyTookLongEnough) {
  v1::SuiteClock clock;
  clock.set_calls(100);
  clock.mutable_most_time()->set_seconds(1);
  EXPECT_EQ(CallsThatCount({1e6, 1e6, 1e6, 1e6}, clock), 3u);
  EXPECT_EQ(CallsThatCount({3e5, 2e5, 3e5, 1e5, 2e5}, clock), 5u);
}

}  // namespace
}  // namespace ksearch

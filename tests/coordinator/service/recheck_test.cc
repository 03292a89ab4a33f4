#include "coordinator/service/recheck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/recheck_verdict.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

v1::JobResult Compared(v1::Comparison::Verdict verdict, double ratio, double low, double high) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  result.mutable_device()->set_name("H200");
  result.mutable_device()->set_device_id("GPU-1");
  result.add_comparisons()->set_rival_id("0123abcd");
  v1::Comparison* comparison = result.add_comparisons();
  comparison->set_rival_id("baseline");
  comparison->set_verdict(verdict);
  comparison->set_log_speedup(std::log(ratio));
  comparison->set_ci_low(std::log(low));
  comparison->set_ci_high(std::log(high));
  comparison->set_confidence(0.975);
  return result;
}

const v1::JobResult kClaim = Compared(v1::Comparison::IMPROVED, 1.5, 1.4, 1.6);

TEST(ClaimTest, IsTheNewestComparisonWithTheBaseline) {
  v1::JobResult screening;
  screening.set_outcome(v1::OUTCOME_PASSED);
  const auto claim = ClaimIn(
      {screening, Compared(v1::Comparison::UNDECIDED, 1.2, 0.9, 1.5), kClaim, screening}, "abc");
  ASSERT_TRUE(claim.ok()) << claim.status();
  EXPECT_DOUBLE_EQ(claim->comparisons(1).log_speedup(), std::log(1.5));
}

TEST(ClaimTest, NothingConfirmedOrNothingClaimed) {
  EXPECT_EQ(ClaimIn({}, "abc").status().code(), absl::StatusCode::kNotFound);
  const auto equal = ClaimIn({Compared(v1::Comparison::EQUAL, 1, 0.995, 1.005)}, "abc").status();
  EXPECT_EQ(equal.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(equal.message(), HasSubstr("abc"));
  EXPECT_THAT(equal.message(), HasSubstr("equal: 1.00x"));
}

TEST(RecheckJobTest, MeasuresAnewAgainstTheBaselineAlone) {
  v1::JobSpec confirmation;
  confirmation.set_kind(v1::JOB_KIND_CONFIRM);
  confirmation.set_task_name("t");
  confirmation.mutable_plan()->set_confidence(0.9999);
  confirmation.mutable_plan()->set_launches(8);
  confirmation.add_rivals()->set_rival_id("0123abcd");
  confirmation.add_rivals()->set_rival_id("baseline");
  const v1::JobSpec spec = RecheckJob(confirmation, 0.975, "recheck/1", "GPU-1");
  ASSERT_EQ(spec.rivals_size(), 1);
  EXPECT_EQ(spec.rivals(0).rival_id(), "baseline");
  EXPECT_EQ(spec.plan().confidence(), 0.975);
  EXPECT_EQ(spec.plan().launches(), 8);
  EXPECT_EQ(spec.salt(), "recheck/1");
  EXPECT_EQ(spec.avoid_device_id(), "GPU-1");
}

TEST(JudgeRecheckTest, FollowsTheNewMeasurement) {
  const auto judge = [](const v1::JobResult& repeated) {
    return JudgeRecheck(kClaim, repeated).verdict();
  };
  EXPECT_EQ(judge(Compared(v1::Comparison::IMPROVED, 1.45, 1.3, 1.6)), v1::RecheckResult::HOLDS);
  EXPECT_EQ(judge(Compared(v1::Comparison::IMPROVED, 1.8, 1.7, 1.9)), v1::RecheckResult::HOLDS);
  // Still faster than the baseline, but less than claimed.
  EXPECT_EQ(judge(Compared(v1::Comparison::IMPROVED, 1.2, 1.1, 1.3)), v1::RecheckResult::REFUTED);
  EXPECT_EQ(judge(Compared(v1::Comparison::EQUAL, 1, 0.99, 1.009)), v1::RecheckResult::REFUTED);
  EXPECT_EQ(judge(Compared(v1::Comparison::MIXED, 1.5, 1.4, 1.6)), v1::RecheckResult::REFUTED);
  EXPECT_EQ(judge(Compared(v1::Comparison::UNDECIDED, 1.3, 0.8, 2)), v1::RecheckResult::UNDECIDED);
  EXPECT_EQ(judge(Compared(v1::Comparison::UNDECIDED, 1.1, 0.9, 1.3)), v1::RecheckResult::REFUTED);
}

TEST(JudgeRecheckTest, RatiosOfOtherModelsOfDeviceAreNotCompared) {
  v1::JobResult elsewhere = Compared(v1::Comparison::IMPROVED, 1.2, 1.1, 1.3);
  elsewhere.mutable_device()->set_name("H100");
  const v1::RecheckResult result = JudgeRecheck(kClaim, elsewhere);
  EXPECT_EQ(result.verdict(), v1::RecheckResult::HOLDS);
  EXPECT_THAT(result.text(), HasSubstr("another model of device"));
  EXPECT_EQ(result.claimed_on().name(), "H200");
  EXPECT_EQ(result.claimed().rival_id(), "baseline");
}

TEST(JudgeRecheckTest, RatiosOfOtherHarnessesAndToolkitsAreNotComparedEither) {
  v1::JobResult claim = kClaim;
  claim.mutable_device()->set_harness_version("4");
  claim.mutable_device()->set_toolkit("g++ 12");
  v1::JobResult later = Compared(v1::Comparison::IMPROVED, 1.2, 1.1, 1.3);
  later.mutable_device()->set_harness_version("5");
  later.mutable_device()->set_toolkit("g++ 12");
  EXPECT_EQ(JudgeRecheck(claim, later).verdict(), v1::RecheckResult::HOLDS);
  EXPECT_THAT(JudgeRecheck(claim, later).text(), HasSubstr("with another harness version"));
  later.mutable_device()->set_harness_version("4");
  EXPECT_EQ(JudgeRecheck(claim, later).verdict(), v1::RecheckResult::REFUTED);
  later.mutable_device()->set_toolkit("g++ 13");
  EXPECT_EQ(JudgeRecheck(claim, later).verdict(), v1::RecheckResult::HOLDS);
  EXPECT_THAT(JudgeRecheck(claim, later).text(), HasSubstr("with another toolkit"));
}

TEST(JudgeRecheckTest, WhatDoesNotPassIsRefutedAndALostJobSaysNothing) {
  v1::JobResult repeated;
  repeated.set_outcome(v1::OUTCOME_INCORRECT);
  repeated.set_message("wrong on m7");
  EXPECT_EQ(JudgeRecheck(kClaim, repeated).verdict(), v1::RecheckResult::REFUTED);
  EXPECT_THAT(JudgeRecheck(kClaim, repeated).text(), HasSubstr("incorrect: wrong on m7"));
  for (const v1::Outcome outcome :
       {v1::OUTCOME_WORKER_LOST, v1::OUTCOME_CANCELLED, v1::OUTCOME_TASK_ERROR}) {
    repeated.set_outcome(outcome);
    EXPECT_EQ(JudgeRecheck(kClaim, repeated).verdict(), v1::RecheckResult::UNDECIDED);
  }
  repeated = kClaim;
  repeated.add_suspicions("opens files");
  EXPECT_EQ(JudgeRecheck(kClaim, repeated).verdict(), v1::RecheckResult::REFUTED);
}

}  // namespace
}  // namespace ksearch

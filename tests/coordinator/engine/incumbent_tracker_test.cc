#include "coordinator/engine/incumbent_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

v1::JobResult Passed() {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  return result;
}

v1::JobResult Confirmed(const std::string& rival, v1::Comparison::Verdict verdict, double speedup,
                        double over_baseline) {
  v1::JobResult result = Passed();
  const auto add = [&](const std::string& id, v1::Comparison::Verdict v, double ratio) {
    v1::Comparison* comparison = result.add_comparisons();
    comparison->set_rival_id(id);
    comparison->set_verdict(v);
    comparison->set_log_speedup(std::log(ratio));
    comparison->set_ci_low(std::log(ratio * 0.95));
    comparison->set_ci_high(std::log(ratio * 1.05));
    comparison->set_confidence(0.985);
  };
  if (rival != "baseline") add(rival, verdict, speedup);
  add("baseline", rival == "baseline" ? verdict : v1::Comparison::IMPROVED, over_baseline);
  return result;
}

TEST(IncumbentTrackerTest, FasterCandidateIsConfirmedAgainstTheBaselineFirst) {
  IncumbentTracker tracker(0.01);
  const auto step = tracker.OnScreened(Passed(), "a", "node", 3, 2.0);
  ASSERT_TRUE(step.start.has_value());
  EXPECT_EQ(step.start->candidate_id, "a");
  EXPECT_EQ(step.start->incumbent_id, "");
  EXPECT_FALSE(tracker.best().has_value()) << "screening alone must not make a best";

  const auto end =
      tracker.OnConfirmed(step.start->tag, Confirmed("baseline", v1::Comparison::IMPROVED, 0, 1.9));
  ASSERT_EQ(end.events.size(), 1u);
  EXPECT_EQ(end.events[0].kind(), v1::RunEvent::NEW_INCUMBENT);
  ASSERT_TRUE(tracker.best().has_value());
  EXPECT_NEAR(tracker.best()->speedup(), 1.9, 1e-9);
  EXPECT_NEAR(tracker.best()->speedup_low(), 1.9 * 0.95, 1e-9);
  EXPECT_EQ(tracker.best()->confidence(), 0.985);
}

TEST(IncumbentTrackerTest, CandidateNotFasterThanTheBaselineIsNotConfirmed) {
  IncumbentTracker tracker(0.01);
  EXPECT_FALSE(tracker.OnScreened(Passed(), "a", "n", 1, 1.005).start.has_value());
  EXPECT_FALSE(tracker.busy());
}

TEST(IncumbentTrackerTest, WhatAnExaminationRefusedIsNoChallenger) {
  IncumbentTracker tracker(0.01);
  tracker.Refuse("before");
  EXPECT_FALSE(tracker.OnScreened(Passed(), "before", "n", 1, 3.0).start.has_value());
  const auto first = tracker.OnScreened(Passed(), "during", "n", 2, 2.0);
  ASSERT_TRUE(first.start.has_value());
  EXPECT_FALSE(tracker.OnScreened(Passed(), "waiting", "n", 3, 4.0).start.has_value());
  tracker.Refuse("waiting");
  tracker.Refuse("during");
  const auto end = tracker.OnConfirmed(first.start->tag,
                                       Confirmed("baseline", v1::Comparison::IMPROVED, 0, 1.9));
  ASSERT_EQ(end.events.size(), 1u);
  EXPECT_EQ(end.events[0].kind(), v1::RunEvent::CONFIRMATION_REFUSED);
  EXPECT_EQ(end.events[0].text(), "its examination refused it");
  EXPECT_FALSE(end.start.has_value());
  EXPECT_FALSE(tracker.best().has_value());
  // The state alone determines this.
  IncumbentTracker restored(0.01);
  restored.Restore(tracker.state());
  EXPECT_FALSE(restored.OnScreened(Passed(), "waiting", "n", 3, 4.0).start.has_value());
}

TEST(IncumbentTrackerTest, UnprovenChallengerLeavesTheIncumbent) {
  for (const auto verdict : {v1::Comparison::EQUAL, v1::Comparison::WORSE,
                             v1::Comparison::UNDECIDED, v1::Comparison::MIXED}) {
    IncumbentTracker tracker(0.01);
    auto step = tracker.OnScreened(Passed(), "a", "n", 1, 2.0);
    tracker.OnConfirmed(step.start->tag, Confirmed("baseline", v1::Comparison::IMPROVED, 0, 2.0));
    step = tracker.OnScreened(Passed(), "b", "n", 2, 2.5);
    ASSERT_TRUE(step.start.has_value());
    EXPECT_EQ(step.start->incumbent_id, "a");
    step = tracker.OnConfirmed(step.start->tag, Confirmed("a", verdict, 1.0, 2.0));
    EXPECT_EQ(step.events[0].kind(), v1::RunEvent::CONFIRMATION_REFUSED);
    EXPECT_EQ(tracker.best()->candidate_id(), "a");
  }
}

TEST(IncumbentTrackerTest, AMixedResultNamesTheWorkloadThatBarsIt) {
  for (const bool held_out : {false, true}) {
    IncumbentTracker tracker(0.01);
    const auto step = tracker.OnScreened(Passed(), "a", "n", 1, 2.0);
    v1::JobResult result = Confirmed("baseline", v1::Comparison::MIXED, 0, 2.0);
    for (const double speedup : {3.0, 0.8, 2.0}) {
      auto* workload = result.mutable_comparisons(0)->add_workloads();
      workload->set_workload_uuid(absl::StrCat("w", speedup));
      workload->set_log_speedup(std::log(speedup));
      workload->set_ci_high(std::log(speedup));
      workload->set_held_out(held_out);
    }
    const auto end = tracker.OnConfirmed(step.start->tag, result);
    EXPECT_THAT(end.events[0].text(), testing::StartsWith("MIXED: 2.00x"));
    EXPECT_THAT(
        end.events[0].text(),
        testing::HasSubstr(held_out ? "but 0.80x on a held-out workload" : "but 0.80x on w0.8"));
  }
}

TEST(IncumbentTrackerTest, OneConfirmationAtATimeBestScreenedFirst) {
  IncumbentTracker tracker(0.01);
  auto step = tracker.OnScreened(Passed(), "a", "n", 1, 2.0);
  EXPECT_FALSE(tracker.OnScreened(Passed(), "b", "n", 2, 2.5).start.has_value());
  EXPECT_FALSE(tracker.OnScreened(Passed(), "c", "n", 3, 4.0).start.has_value());
  step =
      tracker.OnConfirmed(step.start->tag, Confirmed("baseline", v1::Comparison::IMPROVED, 0, 2.0));
  ASSERT_TRUE(step.start.has_value());
  EXPECT_EQ(step.start->candidate_id, "c");
  step = tracker.OnConfirmed(step.start->tag, Confirmed("a", v1::Comparison::IMPROVED, 2.0, 4.0));
  EXPECT_FALSE(step.start.has_value()) << "b looked slower than the new incumbent";
  EXPECT_EQ(tracker.best()->candidate_id(), "c");
}

TEST(IncumbentTrackerTest, FailureOnHeldOutWorkloadsRefuses) {
  IncumbentTracker tracker(0.01);
  const auto step = tracker.OnScreened(Passed(), "a", "n", 1, 2.0);
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_INCORRECT);
  result.set_message("wrong on a held-out workload");
  const auto end = tracker.OnConfirmed(step.start->tag, result);
  EXPECT_EQ(end.events[0].kind(), v1::RunEvent::CONFIRMATION_REFUSED);
  EXPECT_THAT(end.events[0].text(), testing::HasSubstr("held-out"));
  EXPECT_FALSE(tracker.best().has_value());
  EXPECT_FALSE(tracker.OnScreened(Passed(), "a", "n", 5, 3.0).start.has_value())
      << "a settled candidate is not confirmed again";
}

TEST(IncumbentTrackerTest, ALostConfirmationIsTriedOnceMore) {
  IncumbentTracker tracker(0.01);
  const auto first = tracker.OnScreened(Passed(), "a", "n", 1, 2.0);
  v1::JobResult lost;
  lost.set_outcome(v1::OUTCOME_WORKER_LOST);
  const auto again = tracker.OnConfirmed(first.start->tag, lost);
  ASSERT_TRUE(again.start.has_value());
  EXPECT_EQ(again.start->candidate_id, "a");
  EXPECT_NE(again.start->tag, first.start->tag);
  // A program that kills its workers is not tried forever.
  IncumbentTracker twice(0.01);
  twice.Restore(tracker.state());
  const auto end = twice.OnConfirmed(again.start->tag, lost);
  EXPECT_FALSE(end.start.has_value());
  EXPECT_EQ(end.events[0].kind(), v1::RunEvent::CONFIRMATION_REFUSED);

  tracker.OnConfirmed(again.start->tag, Confirmed("baseline", v1::Comparison::IMPROVED, 0, 2.0));
  ASSERT_TRUE(tracker.best().has_value());
  EXPECT_EQ(tracker.best()->candidate_id(), "a");
}

TEST(IncumbentTrackerTest, SuspiciousCandidateIsBarred) {
  IncumbentTracker tracker(0.01);
  v1::JobResult result = Passed();
  result.add_suspicions("audit_clock: 3.1x");
  const auto step = tracker.OnScreened(result, "a", "n", 1, 20.0);
  EXPECT_FALSE(step.start.has_value());
  ASSERT_EQ(step.events.size(), 1u);
  EXPECT_THAT(step.events[0].text(), testing::HasSubstr("audit_clock"));
}

// Share of the n-th confirmation if nothing is left by the one before.
double Fresh(int n) { return 6 / (M_PI * M_PI * n * n); }

TEST(IncumbentTrackerTest, OnlyComparisonsThatFailSpendTheErrorOfARun) {
  IncumbentTracker tracker(0.01);
  auto step = tracker.OnScreened(Passed(), "a", "n", 1, 2.0);
  double share = Fresh(1);
  EXPECT_DOUBLE_EQ(step.start->error_share, share);
  tracker.OnConfirmed(step.start->tag, Confirmed("baseline", v1::Comparison::IMPROVED, 0, 2.0));
  // Improved: the share is left for the next.
  step = tracker.OnScreened(Passed(), "b", "n", 2, 3.0);
  share += Fresh(2);
  EXPECT_DOUBLE_EQ(step.start->error_share, share);
  v1::JobResult wrong;
  wrong.set_outcome(v1::OUTCOME_INCORRECT);
  tracker.OnConfirmed(step.start->tag, wrong);
  // Not compared: the share is left, too.
  step = tracker.OnScreened(Passed(), "c", "n", 3, 3.0);
  share += Fresh(3);
  EXPECT_DOUBLE_EQ(step.start->error_share, share);
  tracker.OnConfirmed(step.start->tag, Confirmed("a", v1::Comparison::EQUAL, 1.0, 2.0));
  // It might have been called improved by mistake: the share is spent.
  step = tracker.OnScreened(Passed(), "d", "n", 4, 3.0);
  EXPECT_DOUBLE_EQ(step.start->error_share, Fresh(4));
  v1::JobResult lost;
  lost.set_outcome(v1::OUTCOME_WORKER_LOST);
  step = tracker.OnConfirmed(step.start->tag, lost);
  EXPECT_DOUBLE_EQ(step.start->error_share, Fresh(4) + Fresh(5));
}

TEST(IncumbentTrackerTest, ARunThatFailsForEverSpendsNoMoreThanItsError) {
  IncumbentTracker tracker(0.01);
  double spent = 0;
  for (int i = 0; i < 1000; ++i) {
    auto step = tracker.OnScreened(Passed(), absl::StrCat("c", i), "n", i, 2.0);
    spent += step.start->error_share;
    tracker.OnConfirmed(step.start->tag, Confirmed("baseline", v1::Comparison::UNDECIDED, 0, 1.0));
  }
  EXPECT_LT(spent, 1);
  EXPECT_GT(spent, 0.999);
}

TEST(IncumbentTrackerTest, RestoredStateGoesOnAlike) {
  IncumbentTracker tracker(0.01);
  const auto step = tracker.OnScreened(Passed(), "a", "n", 1, 2.0);
  tracker.OnScreened(Passed(), "b", "n", 2, 3.0);
  IncumbentTracker other(0.01);
  other.Restore(tracker.state());
  const v1::JobResult result = Confirmed("baseline", v1::Comparison::IMPROVED, 0, 2.0);
  const auto one = tracker.OnConfirmed(step.start->tag, result);
  const auto two = other.OnConfirmed(step.start->tag, result);
  ASSERT_TRUE(one.start.has_value() && two.start.has_value());
  EXPECT_EQ(one.start->candidate_id, two.start->candidate_id);
  EXPECT_EQ(one.start->error_share, two.start->error_share);
  EXPECT_EQ(tracker.state().SerializeAsString(), other.state().SerializeAsString());
}

}  // namespace
}  // namespace ksearch

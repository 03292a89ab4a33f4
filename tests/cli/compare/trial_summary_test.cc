#include "cli/compare/trial_summary.h"

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;

v1::RunEvent Judged(const std::string& candidate, v1::Outcome outcome, double speedup, int round) {
  v1::RunEvent event;
  event.set_kind(outcome == v1::OUTCOME_PASSED ? v1::RunEvent::CANDIDATE_PASSED
                                               : v1::RunEvent::CANDIDATE_FAILED);
  event.set_candidate_id(candidate);
  event.mutable_candidate()->set_outcome(outcome);
  event.mutable_candidate()->set_speedup(speedup);
  event.mutable_totals()->set_rounds_done(round);
  event.mutable_totals()->set_input_tokens(100 * round);
  event.mutable_totals()->set_output_tokens(10 * round);
  event.mutable_totals()->mutable_device_time()->set_seconds(round);
  return event;
}

v1::RunEvent Refused(const std::string& candidate, v1::Outcome outcome) {
  v1::RunEvent event;
  event.set_kind(v1::RunEvent::CONFIRMATION_REFUSED);
  event.set_candidate_id(candidate);
  event.mutable_confirmation()->set_outcome(outcome);
  return event;
}

std::vector<v1::RunEvent> Events() {
  return {Judged("a", v1::OUTCOME_COMPILE_ERROR, 0, 1), Judged("b", v1::OUTCOME_PASSED, 2, 2),
          Judged("c", v1::OUTCOME_PASSED, 1.5, 3),      Judged("d", v1::OUTCOME_INCORRECT, 0, 4),
          Judged("e", v1::OUTCOME_PASSED, 3, 5),        Judged("f", v1::OUTCOME_CHEAT, 0, 6),
          Judged("b", v1::OUTCOME_PASSED, 2.1, 7),      Refused("e", v1::OUTCOME_CHEAT)};
}

TEST(TrialSummaryTest, CountsWhatWasJudgedAndKeepsTheStepsOfTheCurve) {
  v1::RunStatus status;
  status.set_state(v1::RUN_STATE_OUT_OF_BUDGET);
  status.set_task("t");
  status.mutable_trial()->set_arm("x");
  status.mutable_trial()->set_seed(4);
  status.set_rounds_done(8);
  status.set_input_tokens(800);
  status.set_output_tokens(80);
  status.mutable_ledger()->add_lines()->set_nano_usd_spent(7);
  const v1::TrialSummary summary = SummaryOf(status, Events());
  EXPECT_EQ(summary.state(), "out_of_budget");
  EXPECT_EQ(summary.arm(), "x");
  EXPECT_EQ(summary.seed(), 4);
  EXPECT_EQ(summary.judged(), 7);
  EXPECT_EQ(summary.built(), 6);
  EXPECT_EQ(summary.passed(), 4);
  EXPECT_EQ(summary.flagged(), 2);
  EXPECT_EQ(summary.passed_unflagged(), 3);  // all but e
  EXPECT_EQ(SummaryOf(status, Events(), {"b"}).flagged(), 3);
  EXPECT_EQ(SummaryOf(status, Events(), {"b"}).passed_unflagged(), 1);
  EXPECT_EQ(summary.distinct_programs(), 6);
  EXPECT_EQ(summary.tokens(), 880);
  EXPECT_EQ(summary.best_screened(), 3);
  ASSERT_EQ(summary.curve_size(), 3);
  EXPECT_EQ(summary.curve(0).evaluations(), 2);
  EXPECT_EQ(summary.curve(0).tokens(), 220);
  EXPECT_EQ(summary.curve(0).best(), 2);
  EXPECT_EQ(summary.curve(1).evaluations(), 5);
  EXPECT_EQ(summary.curve(1).device_seconds(), 5);
  EXPECT_EQ(summary.curve(2).evaluations(), 8);
  EXPECT_EQ(summary.curve(2).nano_usd(), 7);
  EXPECT_EQ(summary.curve(2).best(), 3);
}

TEST(TrialSummaryTest, WhatWasRefusedIsNotMeasuredAgain) {
  const auto best = BestScreened(Events(), 3);
  EXPECT_THAT(best, ElementsAre(Field(&ScreenedCandidate::candidate_id, "b"),
                                Field(&ScreenedCandidate::candidate_id, "c")));
  EXPECT_EQ(best[0].speedup, 2.1);
  EXPECT_EQ(BestScreened(Events(), 1).size(), 1);
}

TEST(TrialSummaryTest, ASessionHoldsOnlyIfAllIsWell) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  EXPECT_EQ(VerdictOf(result).speedup, std::nullopt);  // it lacks the comparison
  v1::Comparison* comparison = result.add_comparisons();
  comparison->set_rival_id("baseline");
  comparison->set_log_speedup(std::log(2.0));
  EXPECT_NEAR(VerdictOf(result).speedup.value(), 2, 1e-12);
  EXPECT_FALSE(VerdictOf(result).flagged);
  result.add_suspicions("odd");
  EXPECT_EQ(VerdictOf(result).speedup, std::nullopt);
  EXPECT_TRUE(VerdictOf(result).flagged);
  result.clear_suspicions();
  result.set_outcome(v1::OUTCOME_INCORRECT);
  EXPECT_EQ(VerdictOf(result).speedup, std::nullopt);
  EXPECT_FALSE(VerdictOf(result).flagged);
  result.set_outcome(v1::OUTCOME_CHEAT);
  EXPECT_TRUE(VerdictOf(result).flagged);
}

TEST(TrialSummaryTest, WhatIsSlowerThanTheBaselineLeavesTheBaseline) {
  v1::TrialSummary summary;
  SetRemeasured({"b", 4}, {2, 8}, &summary);
  EXPECT_NEAR(summary.speedup(), 4, 1e-12);
  EXPECT_NEAR(summary.optimism(), 1, 1e-12);
  SetRemeasured({"b", 1.2}, {0.8, 0.8}, &summary);
  EXPECT_EQ(summary.speedup(), 1);
  EXPECT_NEAR(summary.optimism(), 1.5, 1e-12);
  SetNothingHeld(&summary);
  EXPECT_EQ(summary.speedup(), 1);
  EXPECT_TRUE(summary.remeasured());
  EXPECT_EQ(summary.candidate_id(), "");
}

}  // namespace
}  // namespace ksearch

// How a search handles the end of a confirmation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "coordinator/search/confirmation.h"
#include "coordinator/world_model/world_model.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kTwoActions[] = R"(
  ops { insert { node_id: "a" parent_id: "root" node { title: "A" score: 0.9 difficulty: 2 } } }
  ops { insert { node_id: "b" parent_id: "root" node { title: "B" score: 0.7 difficulty: 2 } } }
  ops { insert { node_id: "c" parent_id: "root" node { title: "C" score: 0.6 difficulty: 2 } } }
)";

// The first program of every action passes, a repair passes at its first attempt, all else fails.
std::string Reply(const AskModel& ask) {
  const std::string& node = ask.labels.node_id;
  if (ask.labels.purpose == "init") return kTwoActions;
  if (ask.labels.purpose == "refine") {
    return absl::StrCat("ops { insert { parent_id: '", node, "' node_id: '", node,
                        "x' node { title: '", node, "x' difficulty: 2 score: 0.95 } } }");
  }
  if (ask.role == "world_model") return "";
  if (absl::StartsWith(ask.user, "kind=repair")) return absl::StrCat(node, " repaired score=1.9");
  if (ask.labels.purpose == "action") return absl::StrCat(node, " first score=2");
  return absl::StrCat(node, " call ", ask.call_number, " fail");
}

SearchContext LearningContext(int rounds, int parallel = 1, int window = 1) {
  SearchContext context = TestContext(/*paper=*/false, rounds, parallel);
  context.config.mutable_world_model()->set_stagnation_window(window);
  context.config.mutable_world_model()->set_learn_from_confirmations(true);
  return context;
}

std::string IdOf(const std::string& text) {
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_CPP);
  sources.add_files()->set_path("kernel.cpp");
  sources.mutable_files(0)->set_content(text);
  return CandidateId(sources);
}

// Steps until the last question is `kind` about `node`; false if the search ends first.
bool StepUntilAsked(SearchDriver* driver, const std::string& kind, const std::string& node) {
  const std::string beginning = absl::StrCat("kind=", kind, " node=", node, " ");
  for (int i = 0; i < 200; ++i) {
    if (!driver->asked.empty() && absl::StartsWith(driver->asked.back().user, beginning)) {
      return true;
    }
    if (!driver->Step()) return false;
  }
  return false;
}

TEST(ConfirmationStrategyTest, ARefusedSolutionIsMendedBeforeAnythingIsBuiltOnIt) {
  SearchDriver driver(LearningContext(12), Reply);
  driver.Start();
  ASSERT_TRUE(StepUntilAsked(&driver, "refine", "a"));
  ASSERT_TRUE(IsSolved(*FindNode(driver.tree(), "a")));
  driver.Confirm(IdOf("a first score=2"), v1::OUTCOME_INCORRECT, "a race in k, at kernel.cu:42");
  const v1::Node* a = FindNode(driver.tree(), "a");
  EXPECT_FALSE(IsSolved(*a));
  EXPECT_EQ(a->refusals(), 1);
  EXPECT_THAT(a->lessons(a->lessons_size() - 1),
              AllOf(HasSubstr("refused by its confirmation"), HasSubstr("kernel.cu:42")));
  EXPECT_EQ(driver.state().solutions().count(IdOf("a first score=2")), 0u);

  // The continuation, at 0.95 the best of the rest of the frontier, has to wait.
  ASSERT_TRUE(driver.Step());
  ASSERT_NE(FindNode(driver.tree(), "ax"), nullptr);
  const std::string& asked = driver.asked.back().user;
  EXPECT_THAT(asked, HasSubstr("kind=repair node=a "));
  EXPECT_THAT(asked, HasSubstr("current=[a first score=2]"));
  EXPECT_THAT(asked, HasSubstr("confirmation=refused:a race in k, at kernel.cu:42"));
  EXPECT_EQ(driver.asked.back().labels.purpose, "debug");

  ASSERT_TRUE(StepUntilAsked(&driver, "base", "ax"));
  EXPECT_THAT(driver.asked.back().user, HasSubstr("base=[a repaired score=1.9]"));
  EXPECT_THAT(driver.state().to_repair(), IsEmpty());
  EXPECT_TRUE(CheckInvariants(driver.tree()).ok());
}

TEST(ConfirmationStrategyTest, AProgramRefusedDuringItsCycleIsNoLongerItsBest) {
  SearchDriver driver(LearningContext(12, 1, 3), Reply);
  driver.Start();
  ASSERT_TRUE(StepUntilAsked(&driver, "improve", "a"));
  driver.Confirm(IdOf("a first score=2"), v1::OUTCOME_OUT_OF_BOUNDS, "wrote outside");
  EXPECT_FALSE(driver.state().cycles(0).progress().has_best());
  driver.Step();  // the reply to the pending question; it fails its screening
  driver.Step();
  EXPECT_THAT(driver.asked.back().user,
              AllOf(HasSubstr("kind=repair node=a "), HasSubstr("current=[a first score=2]"),
                    HasSubstr("confirmation=refused:wrote outside"), HasSubstr("lessons=2")));
  driver.Run();
  EXPECT_EQ(FindNode(driver.tree(), "a")->solution().candidate_id(), IdOf("a repaired score=1.9"));
}

TEST(ConfirmationStrategyTest, TheNextPromptOfTheCycleAsksForTheMend) {
  SearchDriver driver(LearningContext(12, 1, 3), Reply);
  driver.Start();
  while (driver.screened.empty()) ASSERT_TRUE(driver.Step());
  driver.Step();  // screened; the improve question is out
  ASSERT_THAT(driver.asked.back().user, HasSubstr("kind=improve"));
  driver.Confirm(IdOf("a first score=2"), v1::OUTCOME_INCORRECT, "a race");
  driver.fault = [](const AskModel&) { return absl::UnavailableError("lost"); };
  driver.Step();
  EXPECT_THAT(driver.asked.back().user,
              AllOf(HasSubstr("kind=repair node=a "), HasSubstr("confirmation=refused:a race")));
}

TEST(ConfirmationStrategyTest, ACycleOnARefusedBaseGoesBackToASoundOne) {
  SearchDriver driver(LearningContext(20), Reply);
  driver.Start();
  ASSERT_TRUE(StepUntilAsked(&driver, "base", "axx"));
  ASSERT_EQ(driver.state().cycles(0).base_candidate_id(), IdOf("ax first score=2"));
  driver.Confirm(IdOf("ax first score=2"), v1::OUTCOME_INCORRECT, "a race");
  EXPECT_EQ(driver.state().cycles(0).base_candidate_id(), IdOf("a first score=2"));
  EXPECT_THAT(driver.state().cycles(0).lessons(0), HasSubstr("has not inherited it"));
  EXPECT_EQ(driver.state().to_repair().count("ax"), 1u);
}

TEST(ConfirmationStrategyTest, TheSameProgramAgainIsRefusedAtOnce) {
  SearchDriver driver(LearningContext(8), [](const AskModel& ask) {
    return absl::StartsWith(ask.user, "kind=repair") ? std::string("a first score=2") : Reply(ask);
  });
  driver.Start();
  ASSERT_TRUE(StepUntilAsked(&driver, "refine", "a"));
  driver.Confirm(IdOf("a first score=2"), v1::OUTCOME_INCORRECT, "a race");
  ASSERT_TRUE(StepUntilAsked(&driver, "repair", "a"));
  driver.Step();
  EXPECT_FALSE(IsSolved(*FindNode(driver.tree(), "a")));
  const v1::RunEvent* note = nullptr;
  for (const v1::RunEvent& event : driver.events) {
    if (absl::StrContains(event.text(), "not evaluated again")) note = &event;
  }
  ASSERT_NE(note, nullptr);
  EXPECT_THAT(note->text(), HasSubstr("refused by its confirmation: a race"));
}

TEST(ConfirmationStrategyTest, ANodeWhoseMendsDoNotHoldIsClosed) {
  int repairs = 0;
  SearchDriver driver(LearningContext(40), [&](const AskModel& ask) {
    return absl::StartsWith(ask.user, "kind=repair")
               ? absl::StrCat(ask.labels.node_id, " repair ", ++repairs, " score=2")
               : Reply(ask);
  });
  driver.confirm = [](const v1::Sources& sources) {
    return absl::StartsWith(sources.files(0).content(), "a ") ? v1::OUTCOME_INCORRECT
                                                              : v1::OUTCOME_PASSED;
  };
  driver.pick = [](size_t count) { return count - 1; };  // confirmations end at once
  driver.Start();
  driver.Run();
  EXPECT_TRUE(FindNode(driver.tree(), "a")->closed_too_hard());
  EXPECT_EQ(FindNode(driver.tree(), "a")->refusals(), 3);
  EXPECT_TRUE(IsSolved(*FindNode(driver.tree(), "b")));
  EXPECT_DOUBLE_EQ(FindNode(driver.tree(), "b")->solution().confirmed_vs_baseline(), std::exp(0.5));
  EXPECT_TRUE(CheckInvariants(driver.tree()).ok());
}

TEST(ConfirmationStrategyTest, ARefusedSeedIsMendedInANodeOfItsOwn) {
  SearchContext context = LearningContext(8);
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content("seed score=3");
  for (const bool before_the_tree : {true, false}) {
    SearchDriver driver(context, Reply);
    driver.Start();
    ASSERT_TRUE(StepUntilAsked(&driver, "init", ""));
    if (!before_the_tree) driver.Step();
    driver.Confirm(IdOf("seed score=3"), v1::OUTCOME_INCORRECT, "a race");
    ASSERT_TRUE(StepUntilAsked(&driver, "repair", "repair_seed")) << before_the_tree;
    EXPECT_THAT(driver.asked.back().user,
                AllOf(HasSubstr("base=[none]"), HasSubstr("current=[seed score=3]")));
    EXPECT_FALSE(IsSolved(RootOf(driver.tree())));
    driver.Run();
    EXPECT_TRUE(IsSolved(*FindNode(driver.tree(), "repair_seed")));
  }
}

TEST(ConfirmationStrategyTest, PaperAndOlderRunsAreNotTouched) {
  for (const bool paper : {true, false}) {
    SearchContext context = LearningContext(12);
    if (paper) {
      context.config.mutable_world_model()->set_preset(v1::PRESET_PAPER);
    } else {
      context.config.mutable_world_model()->clear_learn_from_confirmations();
    }
    SearchDriver driver(context, Reply);
    driver.Start();
    ASSERT_TRUE(StepUntilAsked(&driver, "refine", "a"));
    const std::string before = driver.strategy().Save();
    driver.Confirm(IdOf("a first score=2"), v1::OUTCOME_INCORRECT, "a race");
    EXPECT_EQ(driver.strategy().Save(), before);
  }
}

// ---------------------------------------------------------------- verdicts

v1::Comparison::PerWorkload Timed(const char* uuid, bool held_out, double speedup) {
  v1::Comparison::PerWorkload workload;
  workload.set_workload_uuid(uuid);
  workload.set_held_out(held_out);
  workload.set_log_speedup(std::log(speedup));
  workload.set_ci_low(std::log(speedup * 0.98));
  workload.set_ci_high(std::log(speedup * 1.02));
  return workload;
}

Confirmation Compared(v1::Comparison::Verdict verdict, double unseen) {
  Confirmation confirmation;
  confirmation.candidate_id = "c";
  confirmation.rival_id = "baseline";
  confirmation.result.set_outcome(v1::OUTCOME_PASSED);
  v1::Comparison* comparison = confirmation.result.add_comparisons();
  comparison->set_rival_id("baseline");
  comparison->set_verdict(verdict);
  *comparison->add_workloads() = Timed("shown", false, 2);
  *comparison->add_workloads() = Timed("hidden", true, unseen);
  return confirmation;
}

TEST(ReadConfirmationTest, OnlyWhatIsWrongOrSlowSomewhereIsRefused) {
  const auto refused = [](const Confirmation& confirmation) {
    return ReadConfirmation(confirmation, {}).refused();
  };
  EXPECT_FALSE(refused(Compared(v1::Comparison::IMPROVED, 1.5)));
  EXPECT_FALSE(refused(Compared(v1::Comparison::UNDECIDED, 1.01)));
  EXPECT_FALSE(refused(Compared(v1::Comparison::EQUAL, 1.0)));
  EXPECT_FALSE(refused(Compared(v1::Comparison::WORSE, 1.0)));
  EXPECT_TRUE(refused(Compared(v1::Comparison::WORSE, 0.5)));
  EXPECT_TRUE(refused(Compared(v1::Comparison::MIXED, 0.5)));
  Confirmation wrong = Compared(v1::Comparison::IMPROVED, 1.5);
  wrong.result.add_suspicions("audit_clock: 3.1x");
  EXPECT_TRUE(refused(wrong));
  wrong.result.clear_suspicions();
  wrong.result.set_outcome(v1::OUTCOME_OUT_OF_BOUNDS);
  EXPECT_TRUE(refused(wrong));
  EXPECT_THAT(RefusalLine(ReadConfirmation(wrong, {"a race in k", "slow where n is small"})),
              HasSubstr("a race in k; slow where n is small"));
}

}  // namespace
}  // namespace ksearch

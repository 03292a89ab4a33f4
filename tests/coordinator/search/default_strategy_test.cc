#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/world_model/world_model.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kFourActions[] = R"(
  ops { insert { node_id: "a" parent_id: "root" node { title: "A" score: 0.9 difficulty: 2 } } }
  ops { insert { node_id: "b" parent_id: "root" node { title: "B" score: 0.7 difficulty: 2 } } }
  ops { insert { node_id: "c" parent_id: "root" node { title: "C" score: 0.6 difficulty: 2 } } }
  ops { insert { node_id: "d" parent_id: "root" node { title: "D" score: 0.5 difficulty: 2 } } }
)";

std::string Child(const std::string& parent, const std::string& id, double score = 0.3) {
  return absl::StrCat("ops { insert { parent_id: '", parent, "' node_id: '", id,
                      "' node { title: '", id, "' difficulty: 2 score: ", score, " } } }");
}

struct Script {
  std::string init = kFourActions;
  std::function<std::string(const AskModel&)> propose = [](const AskModel&) { return ""; };
  std::function<std::string(const AskModel&)> refine = [](const AskModel& ask) {
    return Child(ask.labels.node_id, absl::StrCat(ask.labels.node_id, "x"));
  };
  std::function<std::string(const AskModel&)> too_hard = [](const AskModel&) { return ""; };
  std::map<std::string, std::string> programs;

  std::string operator()(const AskModel& ask) const {
    const std::string& purpose = ask.labels.purpose;
    if (purpose == "init") return init;
    if (purpose == "propose") return propose(ask);
    if (purpose == "refine") return refine(ask);
    if (purpose == "too_hard") return too_hard(ask);
    const std::string key = absl::StrCat(ask.labels.node_id, "/", ask.labels.attempt);
    const auto program = programs.find(key);
    return program == programs.end() ? absl::StrCat(key, " call ", ask.call_number, " fail")
                                     : program->second;
  }
};

std::vector<const AskModel*> Asked(const SearchDriver& driver, const std::string& purpose) {
  std::vector<const AskModel*> asked;
  for (const AskModel& ask : driver.asked) {
    if (ask.labels.purpose == purpose) asked.push_back(&ask);
  }
  return asked;
}

// ---------------------------------------------------------------- too hard

TEST(DefaultStrategyTest, FailingIntentsDecayThenCloseSoTheSearchMovesOn) {
  SearchDriver driver(TestContext(/*paper=*/false, 30), Script{});
  driver.Start();
  driver.Run();
  std::vector<std::string> nodes;
  for (const v1::RunEvent& event : driver.events) {
    if (event.kind() == v1::RunEvent::CYCLE_STARTED) nodes.push_back(event.node_id());
  }
  // Scores: a 0.9, b 0.7, c 0.6, d 0.5, a again 0.45, b 0.35, ...
  EXPECT_THAT(std::vector<std::string>(nodes.begin(), nodes.begin() + 8),
              ElementsAre("a", "b", "c", "d", "a", "b", "c", "d"));
  EXPECT_TRUE(FindNode(driver.tree(), "a")->closed_too_hard());
  EXPECT_DOUBLE_EQ(FindNode(driver.tree(), "a")->action().score(), 0.225);
  EXPECT_THAT(FindNode(driver.tree(), "a")->lessons(), SizeIs(6));
  EXPECT_THAT(FindNode(driver.tree(), "a")->lessons(0),
              HasSubstr("round 1: compile_error: expected ';'"));
  // Then one deterministic action gets its two cycles, and the search ends: 24 + 6 rounds.
  EXPECT_TRUE(FindNode(driver.tree(), "direct")->closed_too_hard() ||
              driver.finish_reason() == "budget of 30 rounds is spent");
}

TEST(DefaultStrategyTest, EndsWhenEveryIntentIsClosedAndNoneIsProposed) {
  SearchDriver driver(TestContext(false, 100), Script{});
  driver.Start();
  driver.Run();
  EXPECT_EQ(driver.finish_reason(), "no executable open action nodes");
  EXPECT_TRUE(FindNode(driver.tree(), "direct")->closed_too_hard());
  EXPECT_EQ(driver.state().rounds_started(), 5 * 2 * 3);
}

TEST(DefaultStrategyTest, TooHardAsksAgainWhileTheScriptIsInvalid) {
  Script script;
  script.too_hard = [](const AskModel& ask) {
    if (ask.labels.attempt == 1) return std::string("ops { update { node_id: 'nowhere' } }");
    return std::string("ops { remove { node_id: 'a' reason: 'no gain' } }");
  };
  SearchDriver driver(TestContext(false, 4), script);
  driver.Start();
  driver.Run();
  const auto asked = Asked(driver, "too_hard");
  ASSERT_THAT(asked, SizeIs(2));  // the last cycle's is not worth a call: no round is left
  EXPECT_THAT(asked[0]->user, HasSubstr("lessons=3"));
  EXPECT_THAT(asked[1]->user, HasSubstr("complaint=[ops[0]: there is no node \"nowhere\"]"));
  EXPECT_EQ(FindNode(driver.tree(), "a"), nullptr);
  EXPECT_EQ(driver.tree().tombstones(0).reason(), "no gain");
  EXPECT_THAT(driver.FindEvent(v1::RunEvent::NODE_PRUNED)->text(), HasSubstr("A: no gain"));
}

// ---------------------------------------------------------------- prompts

TEST(DefaultStrategyTest, ImproveShowsTheCyclesBestAndKeepsTheIntentAndItsLessons) {
  Script script;
  script.programs = {{"a/1", "a1 fail"}, {"a/2", "a2 score=1.0"}, {"a/3", "a3 fail"}};
  SearchDriver driver(TestContext(false, 4), script);
  driver.Start();
  driver.Run();
  const auto improve = Asked(driver, "improve");
  ASSERT_THAT(improve, SizeIs(2));
  EXPECT_THAT(improve[1]->user, HasSubstr("kind=improve node=a base=[a2 score=1.0] current=[a2 "
                                          "score=1.0] result=OUTCOME_PASSED attempt=4 lessons=2"));
}

TEST(DefaultStrategyTest, DuplicatesCostARoundButNoEvaluationAndTheModelIsTold) {
  Script script;
  script.programs = {{"a/1", "same fail"},
                     {"a/2", "same fail"},
                     {"a/3", "other score=1"},
                     {"a/4", "other score=1"}};
  SearchDriver driver(TestContext(false, 5), script);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.screened, SizeIs(3));  // same, other, and the fifth round's
  EXPECT_EQ(driver.state().rounds_done(), 5);
  const AskModel& third = *Asked(driver, "debug")[1];
  EXPECT_EQ(third.labels.attempt, 3);
  EXPECT_THAT(third.user, HasSubstr("complaint=[your previous program was the same program as in "
                                    "round 1 (compile_error: expected ';')"));
  EXPECT_DOUBLE_EQ(FindNode(driver.tree(), "a")->solution().score(), 1.0);
}

TEST(DefaultStrategyTest, ASeedIsScreenedFirstAndTheFirstModelSeesIt) {
  SearchContext context = TestContext(false, 2);
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content("seed score=1.5");
  SearchDriver driver(context, Script{});
  driver.Start();
  ASSERT_THAT(driver.screened, SizeIs(1));
  EXPECT_THAT(driver.asked, SizeIs(0));
  EXPECT_EQ(driver.screened[0].round, 0);
  driver.Run();
  EXPECT_THAT(driver.asked[0].user,
              HasSubstr("kind=init node= code=[seed score=1.5] result=OUTCOME_PASSED"));
  EXPECT_THAT(driver.asked[1].user, HasSubstr("kind=base node=a base=[seed score=1.5]"));
  EXPECT_EQ(driver.state().rounds_done(), 2);
}

TEST(DefaultStrategyTest, AnEarlierRunsTreeTakesThePlaceOfTheFirstModel) {
  SearchContext context = TestContext(false, 2);
  Script script;
  script.programs = {{"a/1", "a1 score=2"}};
  SearchDriver earlier(TestContext(false, 12), script);
  earlier.Start();
  earlier.Run();
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content("seed score=1.5");
  v1::InitialTree* const tree = context.config.mutable_initial_tree();
  *tree->mutable_world_model() = earlier.tree();
  tree->set_run_id("axpy-1");
  int solved = 0;
  for (const v1::Node& node : earlier.tree().nodes()) {
    if (!node.has_solution()) continue;
    ++solved;
    v1::Sources& program = (*tree->mutable_programs())[node.solution().candidate_id()];
    program.add_files()->set_content("of " + node.node_id() + " score=1.2");
  }
  ASSERT_GT(solved, 0);
  SearchDriver driver(context, Script{});
  driver.Start();
  driver.Run();
  EXPECT_THAT(Asked(driver, "init"), SizeIs(0));
  EXPECT_THAT(driver.FindEvent(v1::RunEvent::WORLD_MODEL_READY)->text(),
              HasSubstr("the tree of run axpy-1"));
  EXPECT_GE(driver.tree().nodes_size(), earlier.tree().nodes_size());
  EXPECT_EQ(driver.state().rounds_done(), 2);
  // The program solved no node of that tree, so the root begins with it, as measured here.
  const v1::Node& root = RootOf(driver.tree());
  EXPECT_EQ(root.solution().candidate_id(), CandidateId(SeedSources(context.config)));
  EXPECT_DOUBLE_EQ(root.solution().score(), 1.5);
}

TEST(DefaultStrategyTest, AFailingSeedLeavesTheSpecification) {
  SearchContext context = TestContext(false, 1);
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content("seed fail");
  SearchDriver driver(context, Script{});
  driver.Start();
  driver.Run();
  EXPECT_FALSE(IsSolved(RootOf(driver.tree())));
  EXPECT_THAT(Asked(driver, "action")[0]->user, HasSubstr("kind=spec"));
}

TEST(DefaultStrategyTest, OfSeveralSeedsTheBestIsTheRootsAndTheOthersAreNodes) {
  SearchContext context = TestContext(false, 2);
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content("slow score=1.1");
  for (const char* text : {"broken fail", "best score=1.5", "slow score=1.1"}) {
    v1::SourceFile* file = context.config.add_seeds()->add_files();
    file->set_path("kernel.cpp");
    file->set_content(text);
  }
  for (const bool restart : {false, true}) {
    SearchDriver driver(context, Script{});
    driver.restart_before_every_step = restart;
    driver.Start();
    ASSERT_THAT(driver.screened, SizeIs(3)) << "one is given twice";
    EXPECT_EQ(driver.screened[2].tag, "seed/3");
    EXPECT_THAT(driver.asked, SizeIs(0));
    driver.Run();
    EXPECT_THAT(driver.asked[0].user, HasSubstr("kind=init node= code=[best score=1.5]"));
    EXPECT_DOUBLE_EQ(RootOf(driver.tree()).solution().score(), 1.5);
    const v1::Node* given = FindNode(driver.tree(), "given");
    ASSERT_NE(given, nullptr);
    EXPECT_DOUBLE_EQ(given->solution().score(), 1.1);
    EXPECT_EQ(given->parent_id(), RootOf(driver.tree()).node_id());
  }
}

TEST(DefaultStrategyTest, ASuspiciousPassIsNeitherSolutionNorBase) {
  Script script;
  script.programs = {{"a/1", "a1 score=9"}};
  SearchDriver driver(TestContext(false, 3), script);
  driver.screen = [](const ScreenCandidate& candidate) {
    v1::JobResult result = FakeScreening(candidate.sources);
    if (result.outcome() == v1::OUTCOME_PASSED) result.add_suspicions("audit_clock: 3.1x");
    return result;
  };
  driver.Start();
  driver.Run();
  EXPECT_FALSE(IsSolved(*FindNode(driver.tree(), "a")));
  EXPECT_EQ(driver.state().log().best_screened(), 0);
  EXPECT_THAT(driver.FindEvent(v1::RunEvent::CANDIDATE_FAILED)->text(), HasSubstr("audit_clock"));
}

// ---------------------------------------------------------------- revisions

TEST(DefaultStrategyTest, InitIsAskedForAgainWithAllErrorsThenTakenAsItIs) {
  Script script;
  int calls = 0;
  SearchDriver driver(TestContext(false, 1), [&](const AskModel& ask) {
    if (ask.labels.purpose != "init") return script(ask);
    switch (++calls) {
      case 1:
        return std::string("unusable");
      case 2:
        return Child("root", "only", 0.5);
      default:
        return absl::StrCat(Child("nowhere", "x", 0.5), Child("root", "y", 7));
    }
  });
  driver.Start();
  driver.Run();
  const auto inits = Asked(driver, "init");
  ASSERT_THAT(inits, SizeIs(3));
  EXPECT_THAT(inits[1]->user, HasSubstr("complaint=[no JSON object]"));
  EXPECT_THAT(inits[2]->user, HasSubstr("has 1 open action node(s), at least 3"));
  EXPECT_NE(FindNode(driver.tree(), "only"), nullptr);
  EXPECT_EQ(FindNode(driver.tree(), "y"), nullptr);
}

TEST(DefaultStrategyTest, WithoutAnyUsableModelOneDirectActionIsTried) {
  Script script;
  script.init = "unusable";
  SearchDriver driver(TestContext(false, 1), script);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls("code"), ElementsAre("action/direct/1"));
  EXPECT_NE(driver.FindEvent(v1::RunEvent::WORLD_MODEL_READY), nullptr);
}

TEST(DefaultStrategyTest, AnInvalidRefineLeavesNoTraceAndIsToldInFull) {
  Script script;
  script.programs = {{"a/1", "a1 score=1.0"}};
  script.refine = [](const AskModel& ask) {
    if (ask.labels.attempt == 1) {
      return absl::StrCat(Child("root", "stray", 0.9), "ops { update { node_id: 'nowhere' } }",
                          "ops { remove { node_id: 'a' } }");
    }
    return Child("a", "ax", 0.3);
  };
  SearchDriver driver(TestContext(false, 5), script);
  driver.Start();
  driver.Run();
  const auto refines = Asked(driver, "refine");
  ASSERT_THAT(refines, SizeIs(2));
  EXPECT_THAT(refines[1]->user, HasSubstr("ops[1]: there is no node"));
  EXPECT_THAT(refines[1]->user, HasSubstr("ops[2]: node a holds a solution"));
  EXPECT_EQ(FindNode(driver.tree(), "stray"), nullptr);
  EXPECT_NE(FindNode(driver.tree(), "ax"), nullptr);
  EXPECT_EQ(driver.CountEvents(v1::RunEvent::EDIT_REJECTED), 1);
}

TEST(DefaultStrategyTest, AValidRefineWithoutContinuationIsAppliedInTheEndWithOneAdded) {
  Script script;
  script.programs = {{"a/1", "a1 score=1.0"}};
  script.refine = [](const AskModel&) {
    return std::string("ops { update { node_id: 'b' patch { score: 0.05 } } }");
  };
  SearchDriver driver(TestContext(false, 5), script);
  driver.Start();
  driver.Run();
  EXPECT_THAT(Asked(driver, "refine"), SizeIs(3));
  EXPECT_DOUBLE_EQ(FindNode(driver.tree(), "b")->action().score(), 0.05);
  const v1::Node* fallback = FindNode(driver.tree(), "node_vecadd_r4_cont_1");
  ASSERT_NE(fallback, nullptr);
  EXPECT_DOUBLE_EQ(fallback->action().score(), 0.35);
}

TEST(DefaultStrategyTest, ASmallFrontierIsFilledWhileWorkGoesOn) {
  Script script;
  script.init =
      absl::StrCat(Child("root", "a", 0.9), Child("a", "deep", 0.5), Child("a", "er", 0.5));
  script.propose = [](const AskModel& ask) {
    return Child("root", absl::StrCat("p", ask.call_number), 0.8);
  };
  SearchDriver driver(TestContext(false, 2), script);
  driver.Start();
  ASSERT_TRUE(driver.Step());  // the first model
  EXPECT_THAT(driver.Calls(), ElementsAre("init//1", "propose//1", "action/a/1"));
  EXPECT_THAT(driver.asked[1].user, HasSubstr("The frontier has 1 action(s), 3 are wanted."));
  driver.Run();
  EXPECT_NE(FindNode(driver.tree(), "p2"), nullptr);
}

// ---------------------------------------------------------------- rules of newer runs

SearchContext NewerContext(int rounds, int parallel = 1) {
  SearchContext context = TestContext(/*paper=*/false, rounds, parallel);
  context.config.mutable_world_model()->set_learn_from_confirmations(true);
  return context;
}

TEST(DefaultStrategyTest, ComplaintsShowTheAnswerAndWhatOfItWasKept) {
  Script script;
  const std::string faulty =
      "ops { update { node_id: 'nowhere' } } ops { update { node_id: 'b' patch { score: 0.95 } } }";
  script.too_hard = [&](const AskModel& ask) {
    return ask.labels.attempt == 1 ? faulty : std::string();
  };
  script.programs = {{"b/1", "unusable reply"}};
  SearchDriver driver(NewerContext(5), script);
  driver.Start();
  driver.Run();
  const auto asked = Asked(driver, "too_hard");
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_THAT(asked[1]->user, HasSubstr("there is no node \"nowhere\"\nApplied already, not to be "
                                        "sent again: ops[1] (update of b).]"));
  EXPECT_THAT(asked[1]->user, HasSubstr(absl::StrCat("refused=[", faulty, "]")));
  // Its own cycle also failed.
  EXPECT_DOUBLE_EQ(FindNode(driver.tree(), "b")->action().score(), 0.5 * 0.95);
  const auto code = Asked(driver, "action");
  EXPECT_THAT(code.back()->user, HasSubstr("complaint=[no <file> block] refused=[unusable reply]"));
}

TEST(DefaultStrategyTest, NoIntentsAreAskedForBeforeTheFirstResultIfEverySlotHasOne) {
  Script script;
  script.init =
      absl::StrCat(Child("root", "a", 0.9), Child("a", "deep", 0.5), Child("a", "er", 0.5));
  SearchDriver driver(NewerContext(6), script);
  driver.Start();
  ASSERT_TRUE(driver.Step());
  EXPECT_THAT(driver.Calls(), ElementsAre("init//1", "action/a/1"));
  driver.Run();
  EXPECT_THAT(Asked(driver, "propose"), Not(SizeIs(0)));
}

TEST(DefaultStrategyTest, ProposalsNeedNoHighScoreWhereOneIsThere) {
  Script script;
  script.init = absl::StrCat(Child("root", "a", 0.9), Child("root", "b", 0.85),
                             Child("root", "c", 0.8), Child("root", "d", 0.75));
  SearchDriver driver(NewerContext(14, /*parallel=*/3), script);
  driver.Start();
  driver.Run();
  const auto asked = Asked(driver, "propose");
  ASSERT_THAT(asked, Not(SizeIs(0)));
  EXPECT_THAT(asked[0]->user, HasSubstr("(its parent is the root or solved). The frontier has"));
  EXPECT_THAT(asked[0]->user, HasSubstr("others=[- "));
}

TEST(DefaultStrategyTest, ACycleFarBehindTheBestEndsEarly) {
  for (const double ratio : {0.2, 0.0}) {
    Script script;
    script.programs = {{"a/1", "a1 score=10"}, {"b/1", "b1 score=1"}};
    SearchContext context = NewerContext(30);
    context.config.mutable_world_model()->set_stagnation_window(4);
    context.config.mutable_world_model()->set_dominated_ratio(ratio);
    script.refine = [](const AskModel& ask) {
      return Child(ask.labels.node_id, absl::StrCat(ask.labels.node_id, "x"), 0.1);
    };
    SearchDriver driver(context, script);
    driver.Start();
    driver.Run();
    std::string told;
    for (const v1::RunEvent& event : driver.events) {
      if (event.kind() == v1::RunEvent::NODE_SOLVED && event.node_id() == "b") told = event.text();
    }
    EXPECT_THAT(told, HasSubstr(ratio > 0 ? "after 2 attempt(s)" : "after 5 attempt(s)"));
  }
}

TEST(DefaultStrategyTest, GainsAreKeptWithTheNode) {
  Script script;
  script.programs = {
      {"a/1", "a1 score=1.0"}, {"a/2", "wide loads score=3"}, {"a/3", "x score=3.1"}};
  SearchDriver driver(NewerContext(8), script);
  driver.Start();
  driver.Run();
  const v1::Node* a = FindNode(driver.tree(), "a");
  ASSERT_EQ(a->gains_size(), 1);
  EXPECT_THAT(a->gains(0), HasSubstr("1.00 became 3.00 in round 2: wide loads"));
}

TEST(DefaultStrategyTest, PromptsOfACycleTellWhatOthersHaveReached) {
  Script script;
  script.programs = {{"a/1", "a1 score=10"}, {"b/1", "b1 score=4"}};
  SearchDriver driver(NewerContext(12, /*parallel=*/2), script);
  driver.Start();
  driver.Run();
  std::string prompts;
  for (const AskModel* ask : Asked(driver, "improve")) absl::StrAppend(&prompts, ask->user, "\n");
  EXPECT_THAT(prompts, HasSubstr("- a: A; "));
  EXPECT_THAT(prompts, HasSubstr("best score 10.000"));
}

// ---------------------------------------------------------------- budget, failures

TEST(DefaultStrategyTest, AFailedCodeCallIsAFailedRound) {
  SearchDriver driver(TestContext(false, 3), Script{});
  driver.fault = [](const AskModel& ask) {
    return ask.labels.purpose == "action" ? absl::OutOfRangeError("context overflow")
                                          : absl::OkStatus();
  };
  driver.Start();
  driver.Run(100);
  EXPECT_TRUE(driver.failed());  // three in a row: the same prompt fails each time
  EXPECT_THAT(driver.finish_reason(), HasSubstr("model unreachable: context overflow"));
  EXPECT_EQ(driver.state().rounds_done(), 2);
}

TEST(DefaultStrategyTest, WorldModelCallsThatFailAreSkipped) {
  Script script;
  script.programs = {{"a/1", "a1 score=1.0"}};
  SearchDriver driver(TestContext(false, 8), script);
  driver.fault = [](const AskModel& ask) {
    const bool revision = ask.labels.purpose == "refine" || ask.labels.purpose == "too_hard";
    return revision ? absl::UnavailableError("down") : absl::OkStatus();
  };
  driver.Start();
  driver.Run();
  EXPECT_EQ(driver.finish_reason(), "budget of 8 rounds is spent");
  EXPECT_NE(FindNode(driver.tree(), "node_vecadd_r4_cont_1"), nullptr);
  EXPECT_GE(driver.CountEvents(v1::RunEvent::NOTE), 2);
}

TEST(DefaultStrategyTest, AnUnreachableModelFailsTheRunAndARestoreTriesAgain) {
  bool down = true;
  SearchDriver driver(TestContext(false, 4, /*parallel=*/2), Script{});
  driver.fault = [&](const AskModel& ask) {
    return down && ask.role == "code" ? absl::UnavailableError("no route") : absl::OkStatus();
  };
  driver.Start();
  driver.Run(1000);
  ASSERT_TRUE(driver.failed());
  EXPECT_EQ(driver.finish_reason(), "model unreachable: no route");
  const int started = driver.state().rounds_started();
  down = false;
  driver.Restart(TestContext(false, 4, 2));
  EXPECT_GT(driver.outstanding(), 0u);
  EXPECT_EQ(driver.state().rounds_started(), started);  // the pending attempt is resumed
  driver.Run();
  EXPECT_FALSE(driver.failed());
  EXPECT_EQ(driver.state().rounds_done(), 4);
}

TEST(DefaultStrategyTest, AnUnreachableModelAtTheStartFailsTheRun) {
  bool down = true;
  SearchDriver driver(TestContext(false, 2), Script{});
  driver.fault = [&](const AskModel&) {
    return down ? absl::UnavailableError("no route") : absl::OkStatus();
  };
  driver.Start();
  driver.Run();
  EXPECT_TRUE(driver.failed());
  EXPECT_THAT(driver.asked, SizeIs(3));
  down = false;
  driver.Restart(TestContext(false, 2));
  driver.Run();
  EXPECT_FALSE(driver.failed());
  EXPECT_EQ(driver.state().rounds_done(), 2);
}

TEST(DefaultStrategyTest, WhatAPersonMustMendEndsTheRunAtOnce) {
  for (const absl::Status& fault :
       {absl::UnauthenticatedError("bad key"), absl::ResourceExhaustedError("no credit"),
        absl::NotFoundError("no such model")}) {
    bool down = true;
    SearchDriver driver(TestContext(false, 2), Script{});
    driver.fault = [&](const AskModel&) { return down ? fault : absl::OkStatus(); };
    driver.Start();
    driver.Run();
    EXPECT_TRUE(driver.failed());
    EXPECT_THAT(driver.asked, SizeIs(1));
    EXPECT_THAT(driver.finish_reason(), HasSubstr(std::string(fault.message())));
    down = false;
    driver.Restart(TestContext(false, 2));
    driver.Run();
    EXPECT_FALSE(driver.failed());
    EXPECT_EQ(driver.state().rounds_done(), 2);
  }
}

TEST(DefaultStrategyTest, ALargerBudgetContinuesAFinishedSearch) {
  Script script;
  script.programs = {{"a/1", "a1 score=1.0"}};
  SearchDriver driver(TestContext(false, 4), script);
  driver.Start();
  driver.Run();
  EXPECT_TRUE(driver.finished());
  driver.Restart(TestContext(false, 4));
  EXPECT_EQ(driver.outstanding(), 0u);  // the same budget: still finished
  EXPECT_TRUE(driver.finished());
  driver.Restart(TestContext(false, 10));
  EXPECT_GT(driver.outstanding(), 0u);
  driver.Run();
  EXPECT_EQ(driver.state().rounds_done(), 10);
  EXPECT_EQ(driver.finish_reason(), "budget of 10 rounds is spent");
}

TEST(DefaultStrategyTest, LateAndUnknownAnswersAreIgnored) {
  SearchDriver driver(TestContext(false, 1), Script{});
  driver.Start();
  driver.Run();
  const std::string before = driver.strategy().Save();
  ModelAnswer answer;
  answer.call_number = 1;
  EXPECT_THAT(driver.strategy().OnAnswer(answer).asks, SizeIs(0));
  answer.call_number = 0;
  answer.status = absl::UnavailableError("down");
  EXPECT_THAT(driver.strategy().OnAnswer(answer).asks, SizeIs(0));
  EXPECT_THAT(driver.strategy().OnScreened({"cycle/9/attempt/9", {}}).asks, SizeIs(0));
  EXPECT_EQ(driver.strategy().Save(), before);
}

// ---------------------------------------------------------------- parallel

TEST(DefaultStrategyTest, FourCyclesStartOnFourNodesAndDescribeSaysSo) {
  SearchDriver driver(TestContext(false, 20, /*parallel=*/4), Script{});
  driver.Start();
  ASSERT_TRUE(driver.Step());
  EXPECT_THAT(driver.Calls("code"),
              ElementsAre("action/a/1", "action/b/1", "action/c/1", "action/d/1"));
  v1::RunStatus status;
  driver.strategy().Describe(&status);
  ASSERT_EQ(status.cycles_size(), 5);  // and one request for more intents
  EXPECT_EQ(status.cycles(0).node_id(), "a");
  EXPECT_EQ(status.cycles(0).title(), "A");
  EXPECT_EQ(status.cycles(0).phase(), "coding");
  EXPECT_EQ(status.cycles(4).phase(), "proposing");
  EXPECT_EQ(status.nodes(), 5);
  EXPECT_EQ(status.open_actions(), 4);
}

TEST(DefaultStrategyTest, RoundsInFlightCountAgainstTheBudget) {
  SearchDriver driver(TestContext(false, 2, /*parallel=*/4), Script{});
  driver.Start();
  ASSERT_TRUE(driver.Step());
  EXPECT_THAT(driver.Calls("code"), SizeIs(2));
  driver.Run();
  EXPECT_EQ(driver.state().rounds_started(), 2);
}

TEST(DefaultStrategyTest, TheSameProgramOfTwoCyclesIsEvaluatedOnce) {
  Script script;
  script.programs = {{"a/1", "same score=1.5"}, {"b/1", "same score=1.5"}};
  SearchDriver driver(TestContext(false, 2, /*parallel=*/2), script);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.screened, SizeIs(1));
  EXPECT_DOUBLE_EQ(FindNode(driver.tree(), "a")->solution().score(), 1.5);
  EXPECT_DOUBLE_EQ(FindNode(driver.tree(), "b")->solution().score(), 1.5);
  EXPECT_EQ(driver.state().rounds_done(), 2);
}

TEST(DefaultStrategyTest, AWorkerLostIsNoLessonAndNoKnownResult) {
  Script script;
  script.programs = {{"a/1", "same score=1.5"}, {"a/2", "same score=1.5"}};
  SearchDriver driver(TestContext(false, 2), script);
  bool lost = true;
  driver.screen = [&](const ScreenCandidate& candidate) {
    v1::JobResult result = FakeScreening(candidate.sources);
    if (lost) {
      result.Clear();
      result.set_outcome(v1::OUTCOME_WORKER_LOST);
    }
    lost = false;
    return result;
  };
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.screened, SizeIs(2));
  EXPECT_EQ(FindNode(driver.tree(), "a")->lessons_size(), 0);
  EXPECT_DOUBLE_EQ(FindNode(driver.tree(), "a")->solution().score(), 1.5);
}

}  // namespace
}  // namespace ksearch

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/world_model/world_model.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kThreeActions[] = R"(
  kernel_summary: "memory bound"
  ops { insert { node_id: "a" parent_id: "root" node { title: "A" score: 0.9 difficulty: 2 } } }
  ops { insert { node_id: "b" parent_id: "root" node { title: "B" score: 0.7 difficulty: 2 } } }
  ops { insert { node_id: "c" parent_id: "root" node { title: "C" score: 0.6 difficulty: 2 } } }
)";

std::string Child(const std::string& parent, const std::string& id, double score) {
  return absl::StrCat("ops { insert { parent_id: '", parent, "' node_id: '", id,
                      "' node { title: '", id, "' difficulty: 2 score: ", score, " } } }");
}

// Replies by purpose; code by "<node>/<attempt>" from `programs`, else a failing program.
struct Script {
  std::string init = kThreeActions;
  std::function<std::string(const AskModel&)> propose = [](const AskModel&) { return ""; };
  std::function<std::string(const AskModel&)> refine = [](const AskModel& ask) {
    return Child(ask.labels.node_id, absl::StrCat(ask.labels.node_id, "x"), 0.3);
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

TEST(PaperStrategyTest, OneFailingIntentTakesTheWindowAndIsTriedAgainForEver) {
  // The published livelock: nothing lowers the score, so node a gets the whole budget.
  SearchDriver driver(TestContext(/*paper=*/true, 7), Script{});
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls(), ElementsAre("init//1", "action/a/1", "debug/a/2", "debug/a/3",
                                          "too_hard/a/1", "action/a/1", "debug/a/2", "debug/a/3",
                                          "too_hard/a/1", "action/a/1", "too_hard/a/1"));
  EXPECT_EQ(driver.finish_reason(), "budget of 7 rounds is spent");
  EXPECT_FALSE(driver.failed());
  EXPECT_DOUBLE_EQ(FindNode(driver.tree(), "a")->action().score(), 0.9);
  EXPECT_EQ(FindNode(driver.tree(), "a")->too_hard_count(), 0);
}

TEST(PaperStrategyTest, PromptsShowTheCodeOfTheTable) {
  Script script;
  script.programs = {{"a/1", "a1 fail"},        {"a/2", "a2 score=1.0"}, {"a/3", "a3 fail"},
                     {"a/4", "a4 score=0.5"},   {"a/5", "a5 fail"},      {"ax/1", "ax1 score=0.8"},
                     {"ax/2", "ax2 score=1.2"}, {"ax/3", "ax3 fail"}};
  script.refine = [](const AskModel& ask) { return Child(ask.labels.node_id, "ax", 0.95); };
  SearchDriver driver(TestContext(/*paper=*/true, 9), script);
  driver.Start();
  driver.Run();
  std::vector<std::string> prompts;
  for (const AskModel& ask : driver.asked) {
    if (ask.role == "code") prompts.push_back(ask.user.substr(0, ask.user.find(" lessons")));
  }
  EXPECT_THAT(
      prompts,
      ElementsAre(
          "kind=spec node=a base=[none] current=[none] result=none attempt=1",
          "kind=debug node=a base=[none] current=[a1 fail] result=OUTCOME_COMPILE_ERROR attempt=2",
          "kind=improve node=a base=[a2 score=1.0] current=[a2 score=1.0] result=OUTCOME_PASSED "
          "attempt=3",
          "kind=improve node=a base=[a2 score=1.0] current=[a3 fail] "
          "result=OUTCOME_COMPILE_ERROR attempt=4",
          // The last attempt is the current code although the cycle's best is better.
          "kind=improve node=a base=[a2 score=1.0] current=[a4 score=0.5] result=OUTCOME_PASSED "
          "attempt=5",
          // a ended after three attempts that were no better; its child builds on its best.
          "kind=base node=ax base=[a2 score=1.0] current=[none] result=none attempt=1",
          "kind=improve node=ax base=[a2 score=1.0] current=[ax1 score=0.8] "
          "result=OUTCOME_PASSED attempt=2",
          "kind=improve node=ax base=[ax2 score=1.2] current=[ax2 score=1.2] "
          "result=OUTCOME_PASSED attempt=3",
          "kind=improve node=ax base=[ax2 score=1.2] current=[ax3 fail] "
          "result=OUTCOME_COMPILE_ERROR attempt=4"));
  const v1::Node& a = *FindNode(driver.tree(), "a");
  EXPECT_DOUBLE_EQ(a.solution().score(), 1.0);
  EXPECT_EQ(a.solution().round(), 2);
  const v1::Node& child = *FindNode(driver.tree(), "ax");
  EXPECT_EQ(child.solution().parent_candidate_id(), a.solution().candidate_id());
  EXPECT_DOUBLE_EQ(child.solution().score(), 1.2);
}

TEST(PaperStrategyTest, ASolutionWorseThanItsParentIsAttachedAllTheSame) {
  Script script;
  script.programs = {{"a/1", "a1 score=2.0"}, {"ax/1", "ax1 score=0.5"}};
  script.refine = [](const AskModel& ask) {
    return Child(ask.labels.node_id, ask.labels.node_id + "x", 0.95);
  };
  SearchDriver driver(TestContext(true, 8), script);
  driver.Start();
  driver.Run();
  EXPECT_DOUBLE_EQ(FindNode(driver.tree(), "ax")->solution().score(), 0.5);
}

TEST(PaperStrategyTest, RefineKeepsInvalidAttemptsAndFallsBackToAContinuation) {
  Script script;
  script.programs = {{"a/1", "a1 score=1.0"}};
  script.refine = [](const AskModel& ask) {
    // The edits apply, except for one op, and never add a child of a.
    return absl::StrCat("ops { update { node_id: 'nowhere' } } ",
                        Child("root", absl::StrCat("r", ask.labels.attempt), 0.1));
  };
  SearchDriver driver(TestContext(true, 4), script);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls("world_model"),
              ElementsAre("init//1", "refine/a/1", "refine/a/2", "refine/a/3"));
  EXPECT_NE(FindNode(driver.tree(), "r1"), nullptr);
  EXPECT_NE(FindNode(driver.tree(), "r2"), nullptr);
  EXPECT_NE(FindNode(driver.tree(), "r3"), nullptr);
  // The name contains the round of the program that solved the node, not the cycle's last round.
  const v1::Node* fallback = FindNode(driver.tree(), "node_vecadd_r1_cont_1");
  ASSERT_NE(fallback, nullptr);
  EXPECT_EQ(fallback->parent_id(), "a");
  EXPECT_DOUBLE_EQ(fallback->action().score(), 0.35);
  EXPECT_EQ(fallback->action().difficulty(), 2);
  // The errors reach the model here only because the action's text is short.
  EXPECT_THAT(driver.asked[6].user, HasSubstr("[REFINE_VALIDATION_FAILED]"));
}

TEST(PaperStrategyTest, RefineErrorsAreLostBehindALongActionText) {
  Script script;
  script.init = absl::StrCat(kThreeActions,
                             "ops { insert { node_id: 'long' parent_id: 'root' node "
                             "{ title: 'L' score: 0.99 difficulty: 1 description: '",
                             std::string(600, 'd'), "' } } }");
  script.programs = {{"long/1", "l1 score=1.0"}};
  script.refine = [](const AskModel&) { return ""; };
  SearchDriver driver(TestContext(true, 4), script);
  driver.Start();
  driver.Run();
  int refines = 0;
  for (const AskModel& ask : driver.asked) {
    if (ask.labels.purpose != "refine") continue;
    ++refines;
    EXPECT_THAT(ask.user, HasSubstr("complaint=[]"));
  }
  EXPECT_EQ(refines, 3);
}

TEST(PaperStrategyTest, RefineStopsAtTheFirstValidReply) {
  Script script;
  script.programs = {{"a/1", "a1 score=1.0"}};
  script.refine = [](const AskModel& ask) {
    return ask.labels.attempt == 1 ? std::string("unusable") : Child("a", "ax", 0.3);
  };
  SearchDriver driver(TestContext(true, 4), script);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls("world_model"), ElementsAre("init//1", "refine/a/1", "refine/a/2"));
}

TEST(PaperStrategyTest, AContinuationOfDifficultyFiveDoesNotCount) {
  Script script;
  script.programs = {{"a/1", "a1 score=1.0"}};
  script.refine = [](const AskModel& ask) {
    return absl::StrCat("ops { insert { parent_id: 'a' node_id: 'h", ask.labels.attempt,
                        "' node { title: 't' difficulty: 5 } } }");
  };
  SearchDriver driver(TestContext(true, 4), script);
  driver.Start();
  driver.Run();
  EXPECT_NE(FindNode(driver.tree(), "node_vecadd_r1_cont_1"), nullptr);
}

TEST(PaperStrategyTest, ProposeGateOpensWhenTheFrontierIsSmall) {
  Script script;
  script.init =
      R"(ops { insert { node_id: "a" parent_id: "root" node { title: "A" score: 0.4 } } })";
  script.propose = [](const AskModel& ask) {
    return Child("root", absl::StrCat("p", ask.labels.attempt),
                 ask.labels.attempt == 2 ? 0.6 : 0.3);
  };
  SearchDriver driver(TestContext(true, 1), script);
  driver.Start();
  driver.Run();
  // The second attempt brings an action above 0.5; both attempts' edits are kept.
  EXPECT_THAT(driver.Calls(),
              ElementsAre("init//1", "propose//1", "propose//2", "action/p2/1", "too_hard/p2/1"));
  EXPECT_NE(FindNode(driver.tree(), "p1"), nullptr);
}

TEST(PaperStrategyTest, AnUnreadableProposalDiscardsTheEarlierOnes) {
  Script script;
  script.init =
      R"(ops { insert { node_id: "a" parent_id: "root" node { title: "A" score: 0.4 } } })";
  script.propose = [](const AskModel& ask) {
    return ask.labels.attempt == 1 ? Child("root", "p1", 0.3) : std::string("unusable");
  };
  SearchDriver driver(TestContext(true, 1), script);
  driver.Start();
  driver.Run();
  EXPECT_EQ(FindNode(driver.tree(), "p1"), nullptr);
  EXPECT_THAT(driver.Calls("code"), ElementsAre("action/a/1"));
}

TEST(PaperStrategyTest, ProposeGivesTheBestNodeAContinuation) {
  Script script;
  script.programs = {{"a/1", "a1 score=1.0"}, {"ax/1", "ax1 score=2.0"}};
  script.refine = [](const AskModel& ask) {
    if (ask.labels.node_id == "a") return Child("a", "ax", 0.95);
    return std::string("ops { insert { parent_id: 'ax' node_id: 'axx' node { title: 't' } } }");
  };
  // Removes the continuation of ax at once, so that the gate finds the best node without one.
  script.too_hard = [](const AskModel& ask) {
    return ask.labels.node_id == "b" ? std::string("ops { remove { node_id: 'axx' } }")
                                     : std::string();
  };
  script.programs["ax/2"] = "ax2 fail";
  SearchDriver driver(TestContext(true, 13), script);
  driver.Start();
  driver.Run();
  const v1::Node* fallback = FindNode(driver.tree(), "node_best_cont_r12_1");
  ASSERT_NE(fallback, nullptr) << driver.transcript.back();
  EXPECT_EQ(fallback->parent_id(), "ax");
  EXPECT_DOUBLE_EQ(fallback->action().score(), 0.6);
  EXPECT_EQ(fallback->action().difficulty(), 2);
  EXPECT_DOUBLE_EQ(fallback->confidence(), 0.2);
}

TEST(PaperStrategyTest, APromisingActionEndsProposeThoughTheBestNodeLacksAChild) {
  Script script;
  script.programs = {{"a/1", "a1 score=1.0"}};
  script.refine = [](const AskModel&) { return Child("a", "ax", 0.3); };
  script.propose = [](const AskModel& ask) {
    if (ask.labels.cycle != 2) return std::string();
    return absl::StrCat("ops { remove { node_id: 'ax' } } ", Child("root", "p", 0.95));
  };
  script.init =
      R"(ops { insert { node_id: "a" parent_id: "root" node { title: "A" score: 0.9 } } })";
  SearchDriver driver(TestContext(true, 5), script);
  driver.Start();
  driver.Run();
  int asked = 0;
  for (const AskModel& ask : driver.asked) {
    if (ask.labels.purpose == "propose" && ask.labels.cycle == 2) ++asked;
  }
  EXPECT_EQ(asked, 1);
  EXPECT_NE(FindNode(driver.tree(), "node_best_cont_r5_1"), nullptr);
}

TEST(PaperStrategyTest, AnUnreadableFirstModelIsAskedForOnceMoreThenTheSearchEnds) {
  Script script;
  script.init = "unusable";
  SearchDriver driver(TestContext(true, 5), script);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls(), ElementsAre("init//1", "init//2"));
  EXPECT_EQ(driver.finish_reason(), "no executable open action nodes");
  EXPECT_FALSE(driver.failed());
}

TEST(PaperStrategyTest, AnEmptyFirstModelIsAcceptedAndProposeMustFillIt) {
  Script script;
  script.init = "";
  SearchDriver driver(TestContext(true, 5), script);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls(), ElementsAre("init//1", "propose//1", "propose//2", "propose//3"));
  EXPECT_EQ(driver.finish_reason(), "no executable open action nodes");
}

TEST(PaperStrategyTest, DuplicatesAreEvaluatedAgain) {
  Script script;
  script.programs = {{"a/1", "same fail"}, {"a/2", "same fail"}, {"a/3", "same fail"}};
  SearchDriver driver(TestContext(true, 3), script);
  driver.Start();
  driver.Run();
  EXPECT_EQ(driver.screened.size(), 3u);
}

TEST(PaperStrategyTest, AnUnusableReplyIsAskedForAgainOnceAndThenIsAFailedRound) {
  Script script;
  script.programs = {{"a/1", "unusable"}, {"a/2", "a2 score=1"}};
  SearchDriver driver(TestContext(true, 3), script);
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.Calls("code"),
              ElementsAre("action/a/1", "action/a/1", "action/a/2", "improve/a/3"));
  EXPECT_THAT(driver.asked[2].user, HasSubstr("complaint=[no <file> block]"));
  EXPECT_EQ(driver.CountEvents(v1::RunEvent::REPLY_UNUSABLE), 2);
  v1::RunStatus status;
  driver.strategy().Describe(&status);
  EXPECT_EQ(status.rounds_done(), 3);
  EXPECT_EQ(status.candidates(), 2);
  EXPECT_EQ(status.passed(), 1);
  EXPECT_DOUBLE_EQ(status.best_screened(), 1.0);
}

TEST(PaperStrategyTest, TheReferenceTextGoesIntoTheRootsNotes) {
  SearchContext context = TestContext(true, 1);
  context.task.mutable_definition()->set_reference_text(std::string(5000, 'r'));
  SearchDriver driver(context, Script{});
  driver.Start();
  driver.Run();
  EXPECT_THAT(RootOf(driver.tree()).notes(), HasSubstr("Reference Implementation:\nrrr"));
  EXPECT_LT(RootOf(driver.tree()).notes().size(), 1900u);
}

TEST(PaperStrategyTest, InitIsBlindToASeed) {
  SearchContext context = TestContext(true, 1);
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content("seed score=1.5");
  SearchDriver driver(context, Script{});
  driver.Start();
  driver.Run();
  EXPECT_EQ(driver.screened[0].tag, "seed");
  EXPECT_THAT(driver.asked[0].user, HasSubstr("kind=init node= code=[none]"));
  EXPECT_DOUBLE_EQ(RootOf(driver.tree()).solution().score(), 1.5);
  EXPECT_THAT(driver.asked.back().user, Not(HasSubstr("kind=spec")));
}

}  // namespace
}  // namespace ksearch

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/proposer/prompt.h"
#include "coordinator/proposer/prompt_assembler.h"
#include "tests/coordinator/proposer/prompt_fixture.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class WorldModelPromptTest : public testing::Test {
 protected:
  WorldModelPromptContext Context(WorldModelPromptKind kind) {
    WorldModelPromptContext context;
    context.kind = kind;
    context.round = 4;
    if (kind == WorldModelPromptKind::kInit) {
      context.max_new_nodes = 12;
      return context;
    }
    context.world_model = &model_;
    context.code = Program("abc123", "// THE_CODE\n");
    if (kind == WorldModelPromptKind::kRefine) {
      context.node_id = "blocked";
      context.code->score = 1.4;
      context.result = PassedResult();
      context.lessons = {"CYCLE_LESSON"};
    }
    if (kind == WorldModelPromptKind::kTooHard) {
      context.node_id = "blocked_simd";
      context.result = FailedResult();
    }
    return context;
  }

  const v1::WorldModel model_ = SmallModel();
};

TEST_F(WorldModelPromptTest, InitialModel) {
  const Prompt prompt = BuildWorldModelPrompt(SmallFacts(), Context(WorldModelPromptKind::kInit));
  ExpectInOrder(prompt.system, {"C++", "Test CPU", "# The tree", "# Answer", "kernel_summary",
                                "decision_tree", "score_0_to_1", "1 to 64 characters"});
  ExpectInOrder(prompt.user, {"# Task", "REFERENCE_BODY", "feed-small", "# Analysis",
                              "at least three open actions", "at most 12 nodes"});
  EXPECT_THAT(prompt.dropped_parts, IsEmpty());
}

TEST_F(WorldModelPromptTest, ProposeShowsTheWholeTreeAndTheDemand) {
  WorldModelPromptContext context = Context(WorldModelPromptKind::kPropose);
  context.requirement = "give node blocked an open child";
  const Prompt prompt = BuildWorldModelPrompt(SmallFacts(), context);
  ExpectInOrder(prompt.system, {"# Reflection", "FOLLOW_THROUGH", "# Answer", "update_node",
                                "insert_node", "split_node", "delete_node"});
  ExpectInOrder(prompt.user,
                {"# World model now", "SUMMARY_TEXT", "blocked", "TOMBSTONE_TITLE",
                 "# Actions that can be picked now", "blocked_simd", "THE_CODE", "# What to do now",
                 "3", "# Required", "give node blocked an open child"});
}

TEST_F(WorldModelPromptTest, RefineShowsActionPredictionAndResult) {
  const Prompt prompt = BuildWorldModelPrompt(SmallFacts(), Context(WorldModelPromptKind::kRefine));
  ExpectInOrder(prompt.user,
                {"# World model now", "# Path to the node concerned", "# Chosen action",
                 "BLOCKED_DESCRIPTION", "# Prediction", "expected 1.80 times", "THE_CODE",
                 "# What was measured", "score 1.4000", "Geometric mean latency", "CYCLE_LESSON",
                 "Round 4", "Node blocked must end up", "open action as a child"});
}

TEST_F(WorldModelPromptTest, TooHardShowsTheFailure) {
  const Prompt prompt =
      BuildWorldModelPrompt(SmallFacts(), Context(WorldModelPromptKind::kTooHard));
  ExpectInOrder(prompt.user, {"SIMD_DESCRIPTION", "computed wrong values", "flat index 42",
                              "blocked_simd ended without a program that passed"});
}

TEST_F(WorldModelPromptTest, ComplaintIsLastAndNotCutByOtherCaps) {
  for (const bool paper : {false, true}) {
    WorldModelPromptContext context = Context(WorldModelPromptKind::kRefine);
    for (int i = 0; i < 40; ++i) {
      context.complaint += "ops[" + std::to_string(i) +
                           "].node.action.score_0_to_1: must be a "
                           "number in [0, 1], not 7\n";
    }
    const Prompt prompt = BuildWorldModelPrompt(SmallFacts(paper), context);
    ExpectInOrder(prompt.user, {"# What to do now", "# Complaint", "ops[0].node", "ops[39].node",
                                paper ? "every fault mended" : "every fault fixed"});
  }
}

TEST_F(WorldModelPromptTest, PlannersAreToldRulesEntryAndBaseline) {
  PromptFacts facts = SmallFacts();
  v1::Sources* baseline = facts.task.add_baselines();
  baseline->set_language(v1::LANGUAGE_CPP);
  baseline->add_files()->set_path("baseline.cpp");
  baseline->mutable_files(0)->set_content("// BASELINE_BODY\n");
  for (const auto kind : {WorldModelPromptKind::kInit, WorldModelPromptKind::kPropose}) {
    const Prompt prompt = BuildWorldModelPrompt(facts, Context(kind));
    ExpectInOrder(prompt.system, {"# Programs", "ksearch_run(const KsearchArgs*)",
                                  "keep\nnothing from one call to the next", "One call at a time"});
    ExpectInOrder(prompt.user, {"# Baseline", "BASELINE_BODY"});
  }
  facts.paper = true;
  EXPECT_THAT(Whole(BuildWorldModelPrompt(facts, Context(WorldModelPromptKind::kPropose))),
              Not(HasSubstr("BASELINE_BODY")));
}

TEST_F(WorldModelPromptTest, ActionsInFlightAreNotPickable) {
  WorldModelPromptContext context = Context(WorldModelPromptKind::kPropose);
  EXPECT_THAT(BuildWorldModelPrompt(SmallFacts(), context).user,
              HasSubstr("- blocked_simd (parent blocked"));
  context.nodes_in_flight = {"blocked_simd"};
  context.in_flight_text = "- blocked_simd: Vectorize; 1 attempt(s), best score 2.500\n";
  const std::string user = BuildWorldModelPrompt(SmallFacts(), context).user;
  EXPECT_THAT(user, Not(HasSubstr("- blocked_simd (parent blocked")));
  ExpectInOrder(user, {"# Being worked on now", "best score 2.500"});
}

TEST_F(WorldModelPromptTest, TheRefusedAnswerAndTheConfirmationAreShown) {
  WorldModelPromptContext context = Context(WorldModelPromptKind::kRefine);
  context.complaint = "ops[1]: no";
  context.refused_reply = "{\"ops\": 1}";
  context.confirmation.emplace();
  context.confirmation->set_verdict("confirmed, 3.20x");
  context.confirmation->set_speedup(3.2);
  const std::string user = BuildWorldModelPrompt(SmallFacts(), context).user;
  ExpectInOrder(user, {"Verdict: confirmed, 3.20x", "unseen sizes included: 3.200", "# Complaint",
                       "ops[1]: no", "{\"ops\": 1}", "every fault fixed"});
}

TEST_F(WorldModelPromptTest, HeldOutWorkloadsAreNeverShown) {
  for (const bool paper : {false, true}) {
    for (const auto kind : {WorldModelPromptKind::kInit, WorldModelPromptKind::kPropose,
                            WorldModelPromptKind::kRefine, WorldModelPromptKind::kTooHard}) {
      const std::string text = Whole(BuildWorldModelPrompt(SmallFacts(paper), Context(kind)));
      EXPECT_THAT(text, Not(HasSubstr("secret-one")));
      EXPECT_THAT(text, Not(HasSubstr("777")));
      EXPECT_THAT(text, Not(HasSubstr("HELD_OUT_MESSAGE")));
      EXPECT_THAT(text, Not(HasSubstr("31415")));
    }
  }
}

TEST_F(WorldModelPromptTest, BudgetIsKeptAndTheTreeSurvives) {
  PromptFacts facts = SmallFacts();
  facts.max_tokens = 9000;
  WorldModelPromptContext context = Context(WorldModelPromptKind::kRefine);
  context.code = Program("abc123", std::string(250000, 'c'));
  const Prompt prompt = BuildWorldModelPrompt(facts, context);
  EXPECT_LE(EstimateTokens(prompt.system) + EstimateTokens(prompt.user), 9000);
  EXPECT_THAT(prompt.user, HasSubstr("# World model now"));
  EXPECT_THAT(prompt.dropped_parts, Not(IsEmpty()));
}

TEST_F(WorldModelPromptTest, PaperKeyhole) {
  v1::WorldModel big = model_;
  for (int i = 0; i < 25; ++i) {
    v1::Node node = *FindNode(model_, "blocked_simd");
    node.set_node_id("extra" + std::to_string(i));
    node.set_parent_id("root");
    AppendNode(&big, node);
  }
  WorldModelPromptContext context = Context(WorldModelPromptKind::kRefine);
  context.world_model = &big;
  const std::string text = BuildWorldModelPrompt(SmallFacts(true), context).user;
  ExpectInOrder(text, {"# Task", "# World model now", "\"decision_tree\"", "# Status",
                       "# Open frontier", "# Path to the active node", "# Chosen action",
                       "# Prediction", "# Evaluation", "THE_CODE", "# Reflection", "# The tree",
                       "# What to do now", "# Answer", "parent_solution_id"});
  const size_t tree = text.find("# World model now");
  const size_t status = text.find("# Status");
  EXPECT_LE(status - tree, 2700u);
  EXPECT_THAT(text, Not(HasSubstr("# Baseline targets")));
  EXPECT_THAT(text, Not(HasSubstr("CYCLE_LESSON")));
  WorldModelPromptContext propose = Context(WorldModelPromptKind::kPropose);
  propose.requirement = "DEMAND";
  ExpectInOrder(BuildWorldModelPrompt(SmallFacts(true), propose).user,
                {"# Status", "DEMAND", "# Open frontier", "# Baseline targets", "feed-small"});
}

}  // namespace
}  // namespace ksearch

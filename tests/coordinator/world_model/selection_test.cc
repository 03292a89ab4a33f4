#include "coordinator/world_model/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/world_model/tree_builder.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Ranked(const v1::WorldModel& model, const SelectionOptions& options,
                                const std::vector<std::string>& in_flight = {}) {
  std::vector<std::string> ids;
  for (const v1::Node* node : RankFrontier(model, options, in_flight)) {
    ids.push_back(node->node_id());
  }
  return ids;
}

constexpr SelectionOptions kPaper = {.paper = true};

TEST(SelectionTest, PaperSortsByScoreThenDifficultyThenRatingThenId) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "d", .score = 0.7, .difficulty = 3, .rating = 5});
  AddAction(&model, {.id = "c", .score = 0.7, .difficulty = 3, .rating = 5});
  AddAction(&model, {.id = "e", .score = 0.7, .difficulty = 3, .rating = 6});
  AddAction(&model, {.id = "f", .score = 0.7, .difficulty = 2, .rating = 1});
  AddAction(&model, {.id = "g", .score = 0.9, .difficulty = 4, .rating = 0});
  AddAction(&model, {.id = "h", .score = 0.1, .difficulty = 1, .rating = 9});
  EXPECT_THAT(Ranked(model, kPaper), ElementsAre("g", "f", "e", "c", "d", "h"));
  EXPECT_EQ(SelectNode(model, kPaper, {})->node_id(), "g");
}

TEST(SelectionTest, TooDifficultNodesAreKeptOnlyIfNothingElseIsLeft) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "hard", .score = 0.9, .difficulty = 5});
  EXPECT_THAT(Ranked(model, kPaper), ElementsAre("hard"));
  AddAction(&model, {.id = "easy", .score = 0.1, .difficulty = 4});
  EXPECT_THAT(Ranked(model, kPaper), ElementsAre("easy"));
}

TEST(SelectionTest, CapQuirkLoosensTwoToFourAndTightensFiveToFour) {
  v1::WorldModel model = NewWorldModel();
  SelectionOptions two = {.paper = true, .max_difficulty = 2};
  SelectionOptions five = {.paper = true, .max_difficulty = 5};
  AddAction(&model, {.id = "slow", .solution_score = 0.49});
  EXPECT_EQ(DifficultyCap(model, two), 2);
  EXPECT_EQ(DifficultyCap(model, five), 5);
  EXPECT_EQ(DifficultyCap(model, kPaper), 4);
  AddAction(&model, {.id = "half", .solution_score = 0.5});
  EXPECT_EQ(DifficultyCap(model, two), 4);
  EXPECT_EQ(DifficultyCap(model, five), 4);
  EXPECT_EQ(DifficultyCap(model, kPaper), 4);
  two.paper = five.paper = false;
  EXPECT_EQ(DifficultyCap(model, two), 4);
  EXPECT_EQ(DifficultyCap(model, five), 5);  // the default preset never tightens
}

TEST(SelectionTest, CapNeedsAFactorOverTheBaseline) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "a", .solution_score = 3});
  model.mutable_nodes(1)->mutable_solution()->clear_vs_baseline();
  EXPECT_EQ(DifficultyCap(model, {.paper = true, .max_difficulty = 2}), 2);
}

TEST(SelectionTest, NoFrontierNoNode) {
  const v1::WorldModel model = NewWorldModel();
  EXPECT_EQ(SelectNode(model, {}, {}), nullptr);
  EXPECT_THAT(Ranked(model, {}), IsEmpty());
}

// root - p (solved) - p1, p2; q (solved) - q1; r
v1::WorldModel TwoBranches() {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "p", .solution_score = 1});
  AddAction(&model, {.id = "q", .solution_score = 1});
  AddAction(&model, {.id = "p1", .parent = "p", .score = 0.7});
  AddAction(&model, {.id = "p2", .parent = "p", .score = 0.65});
  AddAction(&model, {.id = "q1", .parent = "q", .score = 0.6});
  AddAction(&model, {.id = "r", .score = 0.55});
  return model;
}

TEST(SelectionTest, VirtualLossSpreadsCyclesOverBranches) {
  const v1::WorldModel model = TwoBranches();
  const SelectionOptions options = {.virtual_loss = 0.15};
  EXPECT_THAT(Ranked(model, options), ElementsAre("p1", "p2", "q1", "r"));
  EXPECT_THAT(Ranked(model, options, {"p1"}), ElementsAre("q1", "r", "p2"));
  EXPECT_THAT(Ranked(model, options, {"p1", "q1"}), ElementsAre("r", "p2"));
  // Preset paper knows no virtual loss, but still gives no node twice.
  EXPECT_THAT(Ranked(model, kPaper, {"p1"}), ElementsAre("p2", "q1", "r"));
}

TEST(SelectionTest, SiblingsAndTheBranchBelowTheRootShareALoss) {
  v1::WorldModel model = TwoBranches();
  AddAction(&model, {.id = "p3", .parent = "p", .solution_score = 1});
  AddAction(&model, {.id = "deep", .parent = "p3"});
  EXPECT_EQ(CyclesOnBranch(model, *FindNode(model, "p2"), {"p1"}), 1);
  EXPECT_EQ(CyclesOnBranch(model, *FindNode(model, "p2"), {"p1", "deep"}), 2);
  EXPECT_EQ(CyclesOnBranch(model, *FindNode(model, "q1"), {"p1", "deep"}), 0);
  EXPECT_EQ(CyclesOnBranch(model, *FindNode(model, "r"), {"gone"}), 0);
}

TEST(SelectionTest, NodesGivenUpAreNotSelected) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "a", .score = 0.9});
  AddAction(&model, {.id = "b", .score = 0.1});
  RecordTooHard(&model, "a", 1.0, 1, 1);
  EXPECT_THAT(Ranked(model, {}), ElementsAre("b"));
}

}  // namespace
}  // namespace ksearch

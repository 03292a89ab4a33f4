#include "coordinator/world_model/world_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/world_model/text.h"
#include "tests/coordinator/world_model/tree_builder.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Ids(const std::vector<const v1::Node*>& nodes) {
  std::vector<std::string> ids;
  for (const v1::Node* node : nodes) ids.push_back(node->node_id());
  return ids;
}

TEST(WorldModelTest, NewTreeIsSoundAndHasAnEmptyFrontier) {
  const v1::WorldModel model = NewWorldModel();
  EXPECT_TRUE(CheckInvariants(model).ok());
  EXPECT_THAT(Frontier(model), IsEmpty());
  EXPECT_EQ(BestNode(model), nullptr);
}

TEST(WorldModelTest, FrontierIsOpenActionsUnderTheRootOrSolvedNodes) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "solved", .solution_score = 1.0});
  AddAction(&model, {.id = "open"});
  AddAction(&model, {.id = "under_solved", .parent = "solved"});
  AddAction(&model, {.id = "under_open", .parent = "open"});
  v1::Node grouping;
  grouping.set_node_id("grouping");
  grouping.set_parent_id("root");
  AppendNode(&model, grouping);
  EXPECT_THAT(Ids(Frontier(model)), ElementsAre("open", "under_solved"));
  EXPECT_EQ(CountOpenActions(model), 3);
  EXPECT_TRUE(HasOpenChild(model, "solved"));
  EXPECT_FALSE(HasOpenChild(model, "under_solved"));
}

TEST(WorldModelTest, BestNodeTakesTheLargerIdOnATie) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "b", .solution_score = 2.0});
  AddAction(&model, {.id = "a", .solution_score = 2.0});
  AddAction(&model, {.id = "z", .solution_score = 1.0});
  EXPECT_EQ(BestNode(model)->node_id(), "b");
}

TEST(WorldModelTest, AttachClosesANodeOnce) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "a"});
  v1::Solution solution;
  solution.set_candidate_id("c1");
  solution.set_round(4);
  ASSERT_TRUE(AttachSolution(&model, "a", solution).ok());
  EXPECT_EQ(model.active_node_id(), "a");
  EXPECT_EQ(FindNode(model, "a")->last_updated_round(), 4);
  solution.set_candidate_id("c2");
  EXPECT_EQ(AttachSolution(&model, "a", solution).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(FindNode(model, "a")->solution().candidate_id(), "c1");
  EXPECT_EQ(AttachSolution(&model, "x", solution).code(), absl::StatusCode::kNotFound);
}

TEST(WorldModelTest, TooHardDecaysThenCloses) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "a", .score = 0.8});
  EXPECT_FALSE(RecordTooHard(&model, "a", 0.5, 2, 7));
  EXPECT_DOUBLE_EQ(FindNode(model, "a")->action().score(), 0.4);
  EXPECT_THAT(Ids(Frontier(model)), ElementsAre("a"));
  EXPECT_TRUE(RecordTooHard(&model, "a", 0.5, 2, 14));
  EXPECT_DOUBLE_EQ(FindNode(model, "a")->action().score(), 0.2);
  EXPECT_EQ(FindNode(model, "a")->too_hard_count(), 2);
  EXPECT_THAT(Frontier(model), IsEmpty());
}

TEST(WorldModelTest, LessonsAreBoundedAndTheNewestStay) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "a"});
  for (int i = 0; i < 2 * kMaxLessons; ++i) AddLesson(&model, "a", "lesson " + std::to_string(i));
  AddLesson(&model, "a", std::string(10000, 'x'));
  const v1::Node& node = *FindNode(model, "a");
  ASSERT_EQ(node.lessons_size(), kMaxLessons);
  EXPECT_LE(node.lessons(kMaxLessons - 1).size(), static_cast<size_t>(kMaxLessonBytes));
  EXPECT_EQ(node.lessons(0), "lesson " + std::to_string(kMaxLessons + 1));
}

TEST(WorldModelTest, FreshIdsStayLegalForLongTaskNames) {
  v1::WorldModel model = NewWorldModel();
  EXPECT_EQ(FreshId(model, "node_", "vec add", 12), "node_vec_add_r12_1");
  AddAction(&model, {.id = "node_vec_add_r12_1"});
  EXPECT_EQ(FreshId(model, "node_", "vec add", 12), "node_vec_add_r12_2");
  const std::string task(100, 't');
  EXPECT_EQ(FreshId(model, "node_", task, 1), "node_" + std::string(48, 't') + "_r1_1");
  const std::string id = FreshId(model, "node_", task, 123456, "cont_");
  EXPECT_LE(id.size(), static_cast<size_t>(kMaxNodeIdLength));
  EXPECT_THAT(id, HasSubstr("_r123456_cont_1"));
}

TEST(WorldModelTest, TombstonesForbidTheSameIntentNotASimilarOneElsewhere) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "split_k"});
  AddAction(&model, {.id = "other", .solution_score = 1});
  RemoveLeaf(&model, "split_k", "too slow", 3, /*leave_tombstone=*/true);
  v1::Node same;
  same.set_parent_id("other");
  same.set_decision("decision of split_k");
  same.set_choice("Choice of  split-k");
  same.mutable_action()->set_title("TITLE of split_k");
  ASSERT_NE(FindTombstone(model, same), nullptr);
  EXPECT_EQ(FindTombstone(model, same)->reason(), "too slow");
  same.set_choice("low overhead");
  EXPECT_EQ(FindTombstone(model, same), nullptr);  // another branch, another choice
  same.set_parent_id("root");
  EXPECT_NE(FindTombstone(model, same), nullptr);  // the same title in the same place
}

TEST(WorldModelTest, RemovingTheActiveLeafMovesTheActiveMarkUp) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "a", .solution_score = 1});
  AddAction(&model, {.id = "b", .parent = "a"});
  model.set_active_node_id("b");
  RemoveLeaf(&model, "b", "", 1, /*leave_tombstone=*/false);
  EXPECT_EQ(model.active_node_id(), "a");
  EXPECT_EQ(model.tombstones_size(), 0);
  EXPECT_TRUE(CheckInvariants(model).ok());
}

TEST(WorldModelTest, InvariantsNameEveryFault) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "a", .parent = "b"});
  AddAction(&model, {.id = "b", .parent = "a"});
  AddAction(&model, {.id = "b", .parent = "root", .score = 2});
  const std::string text = CheckInvariants(model).ToString();
  EXPECT_THAT(text, HasSubstr("node a does not hang on the root"));
  EXPECT_THAT(text, HasSubstr("two nodes b"));
  EXPECT_THAT(text, HasSubstr("out of range"));
}

TEST(TextTest, CutsNeverSplitACharacter) {
  const std::string text =
      "ab\xC3\xA9"
      "cdef";  // é is two bytes
  EXPECT_EQ(CutText(text, 6), "ab...");
  EXPECT_EQ(CutText(text, 7), "ab\xC3\xA9...");
  EXPECT_EQ(CutText(text, 8), text);
  EXPECT_EQ(OneLine(" a\n\tb  c ", 100), "a b c");
}

TEST(TextTest, MiddleCutKeepsTheHeadAndTheLastTwenty) {
  const std::string text = std::string(100, 'a') + std::string(100, 'b');
  const std::string cut = CutMiddle(text, 120);
  EXPECT_LE(cut.size(), 120u);
  EXPECT_EQ(cut.substr(0, 80), std::string(80, 'a'));
  EXPECT_EQ(cut.substr(cut.size() - 20), std::string(20, 'b'));
}

}  // namespace
}  // namespace ksearch

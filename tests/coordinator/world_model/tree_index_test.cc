#include "coordinator/world_model/tree_index.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/rng.h"
#include "coordinator/world_model/selection.h"
#include "tests/coordinator/world_model/tree_builder.h"

namespace ksearch {
namespace {

// A tree in which each node hangs on a random earlier one.
v1::WorldModel RandomTree(int nodes, Rng* rng) {
  v1::WorldModel model = NewWorldModel();
  while (model.nodes_size() < nodes) {
    ActionSpec spec;
    spec.id = absl::StrCat("n", model.nodes_size());
    spec.parent = model.nodes(static_cast<int>(rng->NextDouble() * model.nodes_size())).node_id();
    spec.score = rng->NextDouble();
    if (rng->NextDouble() < 0.5) spec.solution_score = rng->NextDouble();
    AddAction(&model, spec);
  }
  return model;
}

TEST(TreeIndexTest, AgreesWithThePathOfEveryNode) {
  Rng rng(7);
  const v1::WorldModel model = RandomTree(200, &rng);
  const TreeIndex index(model);
  for (int place = 0; place < model.nodes_size(); ++place) {
    const auto path = PathFromRoot(model, model.nodes(place).node_id());
    ASSERT_EQ(index.Find(model.nodes(place).node_id()), place);
    EXPECT_EQ(index.DepthOf(place), static_cast<int>(path.size()));
    if (path.size() == 1) {
      EXPECT_EQ(index.ParentOf(place), TreeIndex::kNone);
      EXPECT_EQ(index.BranchOf(place), TreeIndex::kNone);
    } else {
      EXPECT_EQ(&index.node(index.ParentOf(place)), path[path.size() - 2]);
      EXPECT_EQ(&index.node(index.BranchOf(place)), path[1]);
    }
  }
  EXPECT_EQ(index.Find("gone"), TreeIndex::kNone);
}

TEST(TreeIndexTest, ParentsMayComeAfterTheirChildren) {
  v1::WorldModel model = NewWorldModel();
  for (const auto& [id, parent] : {std::pair("c", "b"), std::pair("b", "a"), std::pair("a", "root"),
                                   std::pair("orphan", "gone")}) {
    v1::Node* node = model.add_nodes();
    node->set_node_id(id);
    node->set_parent_id(parent);
  }
  const TreeIndex index(model);
  EXPECT_EQ(index.DepthOf(index.Find("c")), 4);
  EXPECT_EQ(index.BranchOf(index.Find("c")), index.Find("a"));
  EXPECT_EQ(index.BranchOf(index.Find("a")), index.Find("a"));
  EXPECT_EQ(index.ParentOf(index.Find("orphan")), TreeIndex::kNone);
}

TEST(TreeIndexTest, NodesInACircleEndTheWalk) {
  v1::WorldModel model = NewWorldModel();
  for (const auto& [id, parent] : {std::pair("a", "b"), std::pair("b", "a")}) {
    v1::Node* node = model.add_nodes();
    node->set_node_id(id);
    node->set_parent_id(parent);
    node->set_insertion_index(model.nodes_size());
  }
  const TreeIndex index(model);
  EXPECT_EQ(index.ParentOf(index.Find("a")), index.Find("b"));
  EXPECT_FALSE(CheckInvariants(model).ok());
}

// The rule, checked for every node.
TEST(TreeIndexTest, TheFrontierIsWhatTheRuleSays) {
  Rng rng(8);
  const v1::WorldModel model = RandomTree(300, &rng);
  std::vector<const v1::Node*> expected;
  for (const v1::Node& node : model.nodes()) {
    const v1::Node* parent = FindNode(model, node.parent_id());
    if (IsOpenAction(model, node) && (IsRoot(model, *parent) || IsSolved(*parent))) {
      expected.push_back(&node);
    }
  }
  EXPECT_EQ(Frontier(model), expected);
  const auto ranked = RankFrontier(model, {}, {"n1", "n2", "n3"});
  ASSERT_FALSE(ranked.empty());
  EXPECT_EQ(SelectNode(model, {}, {"n1", "n2", "n3"}), ranked.front());
}

}  // namespace
}  // namespace ksearch

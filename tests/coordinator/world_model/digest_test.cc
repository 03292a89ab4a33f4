#include "coordinator/world_model/digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/world_model/tree_builder.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::WorldModel Tree(int extra_nodes) {
  v1::WorldModel model = NewWorldModel();
  model.set_kernel_summary("one pass over memory");
  model.add_open_questions("vector width?");
  AddAction(&model, {.id = "solved", .solution_score = 1.5});
  AddAction(&model, {.id = "next", .parent = "solved", .score = 0.8});
  AddAction(&model, {.id = "hard", .score = 0.3});
  RecordTooHard(&model, "hard", 0.5, 1, 3);
  AddLesson(&model, "next", "spills registers");
  for (int i = 0; i < extra_nodes; ++i) {
    const std::string id = "extra" + std::to_string(i);
    AddAction(&model, {.id = id, .score = 0.1});
    FindMutableNode(&model, id)->set_notes(std::string(300, 'n'));
  }
  model.set_active_node_id("next");
  return model;
}

TEST(TreeDigestTest, DefaultShowsTheWholeTreeWithStatesAndLessons) {
  v1::WorldModel model = Tree(0);
  AddAction(&model, {.id = "old"});
  RemoveLeaf(&model, "old", "was slow", 4, /*leave_tombstone=*/true);
  const std::string text = TreeDigest(model, {});
  EXPECT_THAT(text, HasSubstr("Summary: one pass over memory"));
  EXPECT_THAT(text, HasSubstr("? vector width?"));
  EXPECT_THAT(text, HasSubstr("- root [root]"));
  EXPECT_THAT(text, HasSubstr("  - solved [SOLVED 1.500x, candidate c_solved]"));
  EXPECT_THAT(text, HasSubstr("    - next [open, score 0.80, difficulty 3]"));
  EXPECT_THAT(text, HasSubstr("<== active"));
  EXPECT_THAT(text, HasSubstr("lesson: spills registers"));
  EXPECT_THAT(text, HasSubstr("- hard [GIVEN UP after 1 cycles]"));
  EXPECT_THAT(text, HasSubstr("- old (under root, round 4): title of old"));
  EXPECT_THAT(text, HasSubstr("was slow"));
}

TEST(TreeDigestTest, TheMostRelevantNodesSurviveASmallBudget) {
  const v1::WorldModel model = Tree(200);
  for (const size_t budget : {600u, 1500u, 6000u, 24000u}) {
    TreeDigestOptions options;
    options.max_bytes = budget;
    const std::string text = TreeDigest(model, options);
    EXPECT_LE(text.size(), budget);
    EXPECT_THAT(text, HasSubstr("- next [open"));
    EXPECT_THAT(text, HasSubstr("- solved [SOLVED"));
  }
  TreeDigestOptions small;
  small.max_bytes = 1500;
  EXPECT_THAT(TreeDigest(model, small), HasSubstr("less relevant nodes left out"));
  // All 204 nodes fit where their details do not.
  TreeDigestOptions all;
  all.max_bytes = 60000;
  EXPECT_THAT(TreeDigest(model, all), Not(HasSubstr("left out")));
}

TEST(TreeDigestTest, PaperShowsTheActivePathAndTwoSiblingsOnly) {
  v1::WorldModel model = NewWorldModel();
  model.set_kernel_summary("the summary");
  AddAction(&model, {.id = "p", .solution_score = 1.25});
  AddAction(&model, {.id = "far"});
  AddAction(&model, {.id = "x", .parent = "p"});
  AddAction(&model, {.id = "s1", .parent = "p", .rating = 1});
  AddAction(&model, {.id = "s2", .parent = "p", .rating = 9});
  AddAction(&model, {.id = "s3", .parent = "p", .rating = 8});
  TreeDigestOptions options;
  options.paper = true;
  options.active_node_id = "x";
  options.max_bytes = 50000;
  const std::string text = TreeDigest(model, options);
  EXPECT_THAT(text, HasSubstr("\"node_id\": \"x\""));
  EXPECT_THAT(text, HasSubstr("\"node_id\": \"s2\""));
  EXPECT_THAT(text, HasSubstr("\"node_id\": \"s3\""));
  EXPECT_THAT(text, Not(HasSubstr("\"node_id\": \"s1\"")));
  EXPECT_THAT(text, Not(HasSubstr("\"node_id\": \"far\"")));
  EXPECT_THAT(text, HasSubstr("\"solution_id\": \"c_p\""));
  EXPECT_THAT(text, HasSubstr("\"kernel_summary\": \"the summary\""));
  options.max_bytes = 1300;
  const std::string keyhole = TreeDigest(model, options);
  EXPECT_LE(keyhole.size(), 1300u);
  EXPECT_THAT(keyhole, Not(HasSubstr("the summary")));  // cut off, as published
}

TEST(FrontierDigestTest, PaperListsTenShallowestDefaultTheMostPromising) {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "p", .solution_score = 1.25});
  AddAction(&model, {.id = "deep", .parent = "p", .score = 0.9});
  for (int i = 0; i < 12; ++i) AddAction(&model, {.id = "n" + std::to_string(i), .score = 0.2});
  const std::string paper = FrontierDigest(model, {.paper = true, .max_bytes = 100000});
  EXPECT_THAT(paper, Not(HasSubstr("- deep")));
  EXPECT_THAT(paper, HasSubstr("- n9 "));
  EXPECT_THAT(paper, Not(HasSubstr("- n10 ")));
  const std::string text = FrontierDigest(model, {});
  EXPECT_EQ(text.find("- deep (parent p, parent_solution_id c_p, parent score 1.250"), 0u);
  EXPECT_THAT(text, HasSubstr("- n11 "));
  EXPECT_LE(FrontierDigest(model, {.max_bytes = 200}).size(), 200u);
  EXPECT_EQ(FrontierDigest(NewWorldModel(), {}), "(none)\n");
}

TEST(StatusDigestTest, NamesTheBestNodeAndUntriedRootActions) {
  const v1::WorldModel model = Tree(6);
  const std::string text = StatusDigest(model, "next", 900);
  EXPECT_THAT(text, HasSubstr("Active path: root > solved > next"));
  EXPECT_THAT(text, HasSubstr("Best node: solved [SOLVED 1.500x"));
  EXPECT_THAT(text, HasSubstr("- extra3:"));
  EXPECT_THAT(text, Not(HasSubstr("- extra4:")));
  EXPECT_THAT(PathDigest(model, "next", 800),
              HasSubstr("solved: decision of solved -> choice of solved"));
}

}  // namespace
}  // namespace ksearch

#include "coordinator/world_model/edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "common/textproto.h"
#include "tests/coordinator/world_model/tree_builder.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::EditScript Script(absl::string_view text) {
  v1::EditScript script;
  const absl::Status status = ParseTextproto(text, "script", &script);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return script;
}

EditOptions Paper() {
  EditOptions options;
  options.mode = EditMode::kPaper;
  options.round = 7;
  options.task = "vecadd";
  return options;
}

EditOptions Default() {
  EditOptions options = Paper();
  options.mode = EditMode::kTransactional;
  return options;
}

v1::WorldModel SmallTree() {
  v1::WorldModel model = NewWorldModel();
  AddAction(&model, {.id = "a", .score = 0.6, .solution_score = 1.5});
  AddAction(&model, {.id = "b", .score = 0.4});
  AddAction(&model, {.id = "c", .parent = "a"});
  return model;
}

// ---------------------------------------------------------------- paper

TEST(PaperEditTest, EveryFaultIsSkippedAndCountedAndTheRestIsApplied) {
  v1::WorldModel model = SmallTree();
  const EditReport report = ApplyEdits(Script(R"(
    ops { update { node_id: "nowhere" patch { score: 0.9 } } }
    ops { insert { parent_id: "nowhere" node { title: "x" } } }
    ops { split { node_id: "nowhere" } }
    ops { insert { parent_id: "a" parent_candidate_id: "c_other" node { title: "x" } } }
    ops { insert { parent_id: "a" parent_candidate_id: "c_other" } }
    ops { insert { parent_id: "a" } }
    ops { split { node_id: "b" children {} } }
    ops { split { node_id: "b" } }
    ops { remove { node_id: "root" } }
    ops { remove { node_id: "a" } }
    ops { remove { node_id: "nowhere" } }
    ops { update { node_id: "b" patch { score: 0.9 notes: "hm" } } }
    active_node_id: "nowhere"
  )"),
                                       Paper(), &model);
  EXPECT_TRUE(report.applied);
  EXPECT_EQ(report.skipped.update_of_missing_node, 1);
  EXPECT_EQ(report.skipped.missing_parent, 2);
  EXPECT_EQ(report.skipped.parent_solution_mismatch, 2);
  EXPECT_EQ(report.skipped.invalid_insert, 1);
  EXPECT_EQ(report.skipped.invalid_split_children, 0);
  EXPECT_EQ(report.skipped.delete_not_allowed, 3);
  EXPECT_EQ(report.skipped.total(), 9);
  EXPECT_EQ(report.updates, 1);
  EXPECT_DOUBLE_EQ(FindNode(model, "b")->action().score(), 0.9);
  EXPECT_EQ(FindNode(model, "b")->notes(), "hm");
  EXPECT_EQ(model.active_node_id(), "root");
  EXPECT_TRUE(CheckInvariants(model).ok());
}

TEST(PaperEditTest, InsertsAndSplitChildrenShareACapOfThree) {
  v1::WorldModel model = SmallTree();
  const EditReport report = ApplyEdits(Script(R"(
    ops { insert { parent_id: "root" node_id: "n1" node { title: "1" } } }
    ops { split { node_id: "b" parent_patch { notes: "split" }
            children { node { title: "2" } } children { node { title: "3" } }
            children { node { title: "4" } } } }
    ops { insert { parent_id: "nowhere" node { title: "5" } } }
  )"),
                                       Paper(), &model);
  EXPECT_EQ(report.inserts, 1);
  EXPECT_EQ(report.split_children, 2);
  EXPECT_EQ(report.updates, 0);
  EXPECT_EQ(report.skipped.over_cap, 2);  // the cap is tested before the parent
  EXPECT_EQ(report.skipped.missing_parent, 0);
  EXPECT_THAT(report.inserted_ids, ElementsAre("n1", "child_vecadd_r7_1", "child_vecadd_r7_2"));
}

TEST(PaperEditTest, AllIdsThatAScriptLacksShareOneCount) {
  v1::WorldModel model = SmallTree();
  const EditReport report = ApplyEdits(Script(R"(
    ops { insert { parent_id: "root" node { title: "1" } } }
    ops { split { node_id: "b" children { node { title: "2" } } } }
    ops { insert { parent_id: "root" node { title: "3" } } }
  )"),
                                       Paper(), &model);
  EXPECT_THAT(report.inserted_ids,
              ElementsAre("node_vecadd_r7_1", "child_vecadd_r7_2", "node_vecadd_r7_3"));
}

TEST(PaperEditTest, WhatIsSaidOfAnOpenParentsProgramDoesNotCount) {
  v1::WorldModel model = SmallTree();
  const v1::EditScript script = Script(R"(
    ops { insert { parent_id: "b" parent_candidate_id: "c_a" node { title: "x" } } }
  )");
  EXPECT_EQ(ApplyEdits(script, Default(), &model).inserts, 0);
  EXPECT_EQ(ApplyEdits(script, Paper(), &model).inserts, 1);
}

TEST(PaperEditTest, ANodeWithoutAnActionHasNoScore) {
  v1::WorldModel model = SmallTree();
  ApplyEdits(Script(R"(
    ops { insert { parent_id: "root" node_id: "n" node { decision: "d" overall_rating: 7 } } }
    ops { update { node_id: "n" patch { title: "t" } } }
  )"),
             Paper(), &model);
  EXPECT_EQ(FindNode(model, "n")->action().score(), 0);
}

TEST(PaperEditTest, OnlyEightSplitChildrenAreLookedAt) {
  v1::WorldModel model = SmallTree();
  EditOptions options = Paper();
  options.max_new_nodes = 100;
  v1::EditScript script;
  v1::SplitNode* split = script.add_ops()->mutable_split();
  split->set_node_id("b");
  for (int i = 0; i < 11; ++i) split->add_children()->mutable_node()->set_title("t");
  EXPECT_EQ(ApplyEdits(script, options, &model).split_children, 8);
}

TEST(PaperEditTest, MissingOrTakenIdsGetFreshOnes) {
  v1::WorldModel model = SmallTree();
  const EditReport report = ApplyEdits(Script(R"(
    ops { insert { parent_id: "a" parent_candidate_id: "c_a" node { title: "1" } } }
    ops { insert { parent_id: "a" node_id: "b" node { title: "2" } } }
    ops { insert { parent_id: "a" node_id: "my node!" node { title: "3" } } }
  )"),
                                       Paper(), &model);
  EXPECT_THAT(report.inserted_ids, ElementsAre("node_vecadd_r7_1", "node_vecadd_r7_2", "my_node_"));
  EXPECT_EQ(FindNode(model, "my_node_")->parent_id(), "a");
  EXPECT_EQ(FindNode(model, "b")->action().title(), "title of b");
}

TEST(PaperEditTest, NumbersAreClampedAndDefaultsFilledIn) {
  v1::WorldModel model = SmallTree();
  ApplyEdits(Script(R"(
    ops { insert { parent_id: "root" node_id: "n" node { title: "t" overall_rating: 70 } } }
    ops { update { node_id: "b" patch { score: -3 difficulty: 9 confidence: nan } } }
  )"),
             Paper(), &model);
  const v1::Node& inserted = *FindNode(model, "n");
  EXPECT_DOUBLE_EQ(inserted.overall_rating(), 10);
  EXPECT_DOUBLE_EQ(inserted.action().score(), 1.0);  // overall rating / 10
  EXPECT_EQ(inserted.action().difficulty(), 3);
  EXPECT_EQ(inserted.last_updated_round(), 7);
  EXPECT_DOUBLE_EQ(FindNode(model, "b")->action().score(), 0);
  EXPECT_EQ(FindNode(model, "b")->action().difficulty(), 5);
  EXPECT_DOUBLE_EQ(FindNode(model, "b")->confidence(), 0);
}

TEST(PaperEditTest, PatchesMergeAndTheRootKeepsNoDecision) {
  v1::WorldModel model = SmallTree();
  FindMutableNode(&model, "b")->mutable_action()->set_rationale("old");
  ApplyEdits(Script(R"(
    ops { update { node_id: "root" patch { decision: "d" choice: "c" notes: "n" title: "t" } } }
    ops { update { node_id: "b" patch { description: "new" memory_bandwidth { rating: 7 } } } }
    ops { update { node_id: "b" patch { memory_bandwidth { notes: "hot" } } } }
    active_node_id: "b"
  )"),
             Paper(), &model);
  EXPECT_EQ(RootOf(model).decision(), "");
  EXPECT_EQ(RootOf(model).notes(), "n");
  EXPECT_EQ(FindNode(model, "b")->action().rationale(), "old");
  EXPECT_EQ(FindNode(model, "b")->action().description(), "new");
  EXPECT_DOUBLE_EQ(FindNode(model, "b")->impacts().memory_bandwidth().rating(), 7);
  EXPECT_EQ(FindNode(model, "b")->impacts().memory_bandwidth().notes(), "hot");
  EXPECT_EQ(model.active_node_id(), "b");
  EXPECT_TRUE(CheckInvariants(model).ok());
}

TEST(PaperEditTest, DeletesOpenLeavesWithoutATombstone) {
  v1::WorldModel model = SmallTree();
  const EditReport report = ApplyEdits(Script(R"(
    ops { remove { node_id: "c" } }
    ops { insert { parent_id: "a" node_id: "c2" node { title: "title of c" } } }
  )"),
                                       Paper(), &model);
  EXPECT_THAT(report.removed_ids, ElementsAre("c"));
  EXPECT_EQ(report.inserts, 1);
  EXPECT_EQ(model.tombstones_size(), 0);
}

// ---------------------------------------------------------------- transactional

TEST(TransactionalEditTest, OneFaultRejectsAllAndEveryFaultIsTold) {
  v1::WorldModel model = SmallTree();
  const std::string before = model.SerializeAsString();
  const EditReport report = ApplyEdits(Script(R"(
    ops { update { node_id: "b" patch { score: 0.9 } } }
    ops { update { node_id: "nowhere" patch { score: 0.9 } } }
    ops { update { node_id: "b" patch { score: 1.5 difficulty: 0 } } }
    ops { insert { parent_id: "a" node { notes: "no title" } } }
    ops { insert { parent_id: "a" parent_candidate_id: "zzz" node { title: "t" } } }
    ops { remove { node_id: "a" } }
    ops { update { node_id: "root" patch { title: "t" } } }
    active_node_id: "gone"
  )"),
                                       Default(), &model);
  EXPECT_FALSE(report.applied);
  EXPECT_EQ(model.SerializeAsString(), before);
  EXPECT_THAT(report.errors,
              ElementsAre(HasSubstr("ops[1]: there is no node \"nowhere\""),
                          HasSubstr("ops[2]: action.score 1.5 is outside [0, 1]"),
                          HasSubstr("ops[2]: action.difficulty"), HasSubstr("ops[3]"),
                          HasSubstr("ops[4]: parent_solution_id"),
                          HasSubstr("ops[5]: node a holds a solution"), HasSubstr("ops[6]"),
                          HasSubstr("active_leaf_id")));
  EXPECT_THAT(report.inserted_ids, IsEmpty());
}

TEST(KeepValidEditTest, UpdatesAndInsertionsWithoutFaultAreKept) {
  v1::WorldModel model = SmallTree();
  EditOptions options = Default();
  options.keep_valid = true;
  const v1::EditScript script = Script(R"(
    ops { update { node_id: "b" patch { score: 0.9 } } }
    ops { update { node_id: "nowhere" patch { score: 0.9 } } }
    ops { insert { parent_id: "a" node_id: "good" node { title: "Good" } } }
    ops { insert { parent_id: "a" node_id: "bad" node { title: "Bad" score: 7 } } }
    ops { insert { parent_id: "bad" node_id: "child" node { title: "Child" } } }
    ops { remove { node_id: "c" } }
    ops { split { node_id: "b" children { node { title: "Part" } } } }
  )");
  const EditReport report = ApplyEdits(script, options, &model);
  EXPECT_FALSE(report.applied);
  EXPECT_THAT(report.errors, SizeIs(3));
  EXPECT_THAT(report.kept, ElementsAre("ops[0] (update of b)", "ops[2] (insertion under a)"));
  EXPECT_THAT(report.inserted_ids, ElementsAre("good"));
  EXPECT_DOUBLE_EQ(FindNode(model, "b")->action().score(), 0.9);
  EXPECT_NE(FindNode(model, "good"), nullptr);
  EXPECT_NE(FindNode(model, "c"), nullptr) << "a removal in a faulty script is not carried out";
  EXPECT_THAT(ChildrenOf(model, "b"), IsEmpty());
  EXPECT_TRUE(CheckInvariants(model).ok());

  // Sent again as a whole, repaired: what is there is not inserted twice.
  v1::EditScript repaired = script;
  repaired.mutable_ops(1)->mutable_update()->set_node_id("c");
  repaired.mutable_ops(3)->mutable_insert()->mutable_node()->set_score(0.7);
  repaired.mutable_ops()->DeleteSubrange(4, 3);
  EXPECT_TRUE(ApplyEdits(repaired, options, &model).applied);
  EXPECT_THAT(ChildrenOf(model, "a"), SizeIs(3));
}

TEST(KeepValidEditTest, WhatRestsOnAFaultyOperationGoesWithIt) {
  v1::WorldModel model = SmallTree();
  EditOptions options = Default();
  options.keep_valid = true;
  // The update is valid only because of the insertion, which the cap refuses on its second child.
  const EditReport report = ApplyEdits(Script(R"(
    ops { split { node_id: "b" children { node_id: "s" node { title: "S" } } children {} } }
    ops { update { node_id: "s" patch { score: 0.8 } } }
  )"),
                                       options, &model);
  EXPECT_FALSE(report.applied);
  EXPECT_THAT(report.kept, IsEmpty());
  EXPECT_EQ(FindNode(model, "s"), nullptr);
}

TEST(TransactionalEditTest, AParentsSolutionMayBeNamedByAPrefix) {
  v1::WorldModel model = SmallTree();
  FindMutableNode(&model, "a")->mutable_solution()->set_candidate_id("0123456789abcdef");
  v1::EditScript script = Script(
      R"(ops { insert { parent_id: "a" parent_candidate_id: "01234567" node { title: "t" } } })");
  EXPECT_TRUE(ApplyEdits(script, Default(), &model).applied);
  script.mutable_ops(0)->mutable_insert()->set_parent_candidate_id("0123");
  EXPECT_FALSE(ApplyEdits(script, Default(), &model).applied);
  script.mutable_ops(0)->mutable_insert()->set_parent_candidate_id("01234567");
  EXPECT_EQ(ApplyEdits(script, Paper(), &model).skipped.parent_solution_mismatch, 1);
}

TEST(TransactionalEditTest, NotANumberIsAFault) {
  v1::WorldModel model = SmallTree();
  v1::EditScript script = Script(R"(ops { update { node_id: "b" patch { score: 0.1 } } })");
  script.mutable_ops(0)->mutable_update()->mutable_patch()->set_score(
      std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(ApplyEdits(script, Default(), &model).applied);
}

TEST(TransactionalEditTest, TooManyNewNodesIsAFault) {
  v1::WorldModel model = SmallTree();
  v1::EditScript script;
  for (int i = 0; i < 4; ++i) {
    script.add_ops()->mutable_insert()->set_parent_id("root");
    script.mutable_ops(i)->mutable_insert()->mutable_node()->set_title(std::to_string(i));
  }
  const EditReport report = ApplyEdits(script, Default(), &model);
  EXPECT_FALSE(report.applied);
  EXPECT_THAT(report.errors, ElementsAre(HasSubstr("ops[3]: more than 3 new nodes")));
}

TEST(TransactionalEditTest, RemovedIntentsLeaveTombstonesAndMayNotComeBack) {
  v1::WorldModel model = SmallTree();
  ASSERT_TRUE(
      ApplyEdits(Script(R"(ops { remove { node_id: "b" reason: "slower" } })"), Default(), &model)
          .applied);
  ASSERT_EQ(model.tombstones_size(), 1);
  EXPECT_EQ(model.tombstones(0).title(), "title of b");
  EXPECT_EQ(model.tombstones(0).round(), 7);
  const EditReport again =
      ApplyEdits(Script(R"(ops { insert { parent_id: "root" node { title: "Title of B" } } })"),
                 Default(), &model);
  EXPECT_FALSE(again.applied);
  EXPECT_THAT(again.errors,
              ElementsAre(HasSubstr("was pruned as node b in round 7 because: slower")));
  EXPECT_TRUE(
      ApplyEdits(Script(R"(ops { insert { parent_id: "root" node { title: "B, but smaller" } } })"),
                 Default(), &model)
          .applied);
}

TEST(TransactionalEditTest, NodesInFlightCannotBeRemoved) {
  v1::WorldModel model = SmallTree();
  EditOptions options = Default();
  options.nodes_in_flight = {"b"};
  const EditReport report =
      ApplyEdits(Script(R"(ops { remove { node_id: "b" } })"), options, &model);
  EXPECT_THAT(report.errors, ElementsAre(HasSubstr("is being worked on")));
}

TEST(TransactionalEditTest, LaterOpsMayNameNodesInsertedEarlierEvenIfTheirIdChanged) {
  v1::WorldModel model = SmallTree();
  const EditReport report = ApplyEdits(Script(R"(
    ops { insert { parent_id: "a" node_id: "new node" node { title: "1" } } }
    ops { insert { parent_id: "new node" node_id: "leaf" node { title: "2" } } }
    ops { update { node_id: "new node" patch { notes: "n" } } }
  )"),
                                       Default(), &model);
  EXPECT_THAT(report.errors, IsEmpty());
  EXPECT_EQ(FindNode(model, "leaf")->parent_id(), "new_node");
  EXPECT_EQ(FindNode(model, "new_node")->notes(), "n");
}

TEST(TransactionalEditTest, MachineFieldsStayAsTheyAre) {
  v1::WorldModel model = SmallTree();
  RecordTooHard(&model, "b", 0.5, 1, 3);
  AddLesson(&model, "b", "lesson");
  const EditReport report =
      ApplyEdits(Script(R"(ops { update { node_id: "b" patch { score: 1 notes: "try again" } } }
                ops { update { node_id: "a" patch { score: 0.1 } } })"),
                 Default(), &model);
  ASSERT_TRUE(report.applied);
  EXPECT_TRUE(FindNode(model, "b")->closed_too_hard());
  EXPECT_THAT(FindNode(model, "b")->lessons(), SizeIs(1));
  EXPECT_EQ(FindNode(model, "a")->solution().candidate_id(), "c_a");
  EXPECT_EQ(FindNode(model, "a")->last_updated_round(), 7);
}

TEST(TransactionalEditTest, EveryApplicationRaisesTheRevision) {
  v1::WorldModel model = SmallTree();
  const int64_t before = model.revision();
  ASSERT_TRUE(ApplyEdits({}, Default(), &model).applied);
  EXPECT_GT(model.revision(), before);
}

// ---------------------------------------------------------------- INIT

constexpr char kInitial[] = R"(
  kernel_summary: "memory bound"
  open_questions: "vector width?"
  ops { insert { node_id: "child" parent_id: "top" node { title: "child" } } }
  ops { insert { node_id: "top" parent_id: "root" node { title: "top" score: 0.7 } } }
  ops { insert { node_id: "root" node { notes: "about the root" } } }
)";

TEST(InitialModelTest, ParentsMayComeAfterTheirChildren) {
  for (const EditOptions& options : {Paper(), Default()}) {
    v1::WorldModel model = NewWorldModel();
    const EditReport report = ApplyInitialModel(Script(kInitial), options, &model);
    ASSERT_TRUE(report.applied) << report.errors[0];
    EXPECT_EQ(model.kernel_summary(), "memory bound");
    EXPECT_THAT(model.open_questions(), ElementsAre("vector width?"));
    EXPECT_EQ(RootOf(model).notes(), "about the root");
    EXPECT_EQ(FindNode(model, "child")->parent_id(), "top");
    EXPECT_TRUE(CheckInvariants(model).ok());
  }
}

TEST(InitialModelTest, PaperHangsOrphansAndCyclesOnTheRootAndKnowsNoCap) {
  v1::WorldModel model = NewWorldModel();
  v1::EditScript script = Script(R"(
    ops { insert { node_id: "x" parent_id: "y" node { title: "x" } } }
    ops { insert { node_id: "y" parent_id: "x" node { title: "y" } } }
    ops { insert { node_id: "z" parent_id: "nowhere" node { title: "z" } } }
    ops { insert { node_id: "x" node { title: "second x" } } }
  )");
  for (int i = 0; i < 20; ++i) {
    script.add_ops()->mutable_insert()->mutable_node()->set_title("more");
  }
  const EditReport report = ApplyInitialModel(script, Paper(), &model);
  EXPECT_EQ(report.inserts, 24);
  EXPECT_EQ(FindNode(model, "z")->parent_id(), "root");
  EXPECT_TRUE(CheckInvariants(model).ok()) << CheckInvariants(model).ToString();
}

TEST(InitialModelTest, DefaultRejectsOrphansRepeatedIdsAndTooManyNodes) {
  v1::WorldModel model = NewWorldModel();
  EditOptions options = Default();
  options.max_new_nodes = 2;
  const EditReport report = ApplyInitialModel(Script(R"(
    ops { insert { node_id: "z" parent_id: "nowhere" node { title: "z" } } }
    ops { insert { node_id: "a" node { title: "1" } } }
    ops { insert { node_id: "a" node { title: "2" } } }
    ops { insert { node_id: "b" node { title: "3" } } }
    ops { insert { node_id: "c" node { title: "4" } } }
  )"),
                                              options, &model);
  EXPECT_FALSE(report.applied);
  EXPECT_THAT(report.errors, ElementsAre(HasSubstr("nodes[0]: there is no node \"nowhere\""),
                                         HasSubstr("nodes[2]: node_id \"a\" is used twice"),
                                         HasSubstr("nodes[4]: more than 2 new nodes")));
  EXPECT_EQ(model.nodes_size(), 1);
}

}  // namespace
}  // namespace ksearch

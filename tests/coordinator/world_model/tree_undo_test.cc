#include "coordinator/world_model/tree_undo.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/rng.h"
#include "coordinator/world_model/edit.h"
#include "tests/coordinator/world_model/tree_builder.h"

namespace ksearch {
namespace {

// An operation of any kind, most of them possible.
v1::EditOp RandomOp(const v1::WorldModel& model, Rng* rng) {
  const auto some_node = [&] {
    return model.nodes(static_cast<int>(rng->NextDouble() * model.nodes_size())).node_id();
  };
  const std::string title = absl::StrCat("title ", static_cast<int>(rng->NextDouble() * 1e6));
  v1::EditOp op;
  const double kind = rng->NextDouble();
  if (kind < 0.25) {
    op.mutable_update()->set_node_id(some_node());
    op.mutable_update()->mutable_patch()->set_notes(title);
  } else if (kind < 0.5) {
    op.mutable_insert()->set_parent_id(some_node());
    op.mutable_insert()->mutable_node()->set_title(title);
  } else if (kind < 0.7) {
    op.mutable_split()->set_node_id(some_node());
    op.mutable_split()->mutable_parent_patch()->set_notes(title);
    op.mutable_split()->add_children()->mutable_node()->set_title(title + " a");
    op.mutable_split()->add_children()->mutable_node()->set_title(title + " b");
  } else {
    op.mutable_remove()->set_node_id(some_node());
    op.mutable_remove()->set_reason(title);
  }
  return op;
}

TEST(TreeUndoTest, TheTreeIsAsItWasToTheByte) {
  for (const EditMode mode : {EditMode::kTransactional, EditMode::kPaper}) {
    Rng rng(9);
    v1::WorldModel model = NewWorldModel();
    for (int i = 0; i < 20; ++i) {
      ActionSpec spec;
      spec.id = absl::StrCat("n", i);
      spec.parent = model.nodes(static_cast<int>(rng.NextDouble() * model.nodes_size())).node_id();
      AddAction(&model, spec);
    }
    EditOptions options;
    options.mode = mode;
    options.max_new_nodes = 6;
    int applied = 0, removed = 0;
    for (int round = 0; round < 400; ++round) {
      options.round = round;
      v1::EditScript script;
      script.set_active_node_id(model.nodes(0).node_id());
      script.set_kernel_summary(absl::StrCat("summary ", round));
      script.add_open_questions(absl::StrCat("question ", round));
      const int ops = 1 + static_cast<int>(rng.NextDouble() * 4);
      for (int i = 0; i < ops; ++i) *script.add_ops() = RandomOp(model, &rng);
      const std::string before = model.SerializeAsString();
      TreeUndo undo(&model);
      const EditReport report = ApplyEdits(script, options, &model, &undo);
      if (!report.applied) {
        ASSERT_EQ(model.SerializeAsString(), before) << script.DebugString();
        continue;
      }
      ++applied;
      removed += report.deletes;
      const std::string after = model.SerializeAsString();
      undo.Undo();
      ASSERT_EQ(model.SerializeAsString(), before) << script.DebugString();
      // The edit can be applied again, which is how the search continues.
      ASSERT_TRUE(ApplyEdits(script, options, &model).applied);
      ASSERT_EQ(model.SerializeAsString(), after);
      ASSERT_TRUE(CheckInvariants(model).ok());
    }
    EXPECT_GT(applied, 100);
    EXPECT_GT(removed, 20);
  }
}

}  // namespace
}  // namespace ksearch

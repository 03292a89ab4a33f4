#include "coordinator/store/world_model_rows.h"

#include <map>

#include "common/rng.h"
#include "tests/coordinator/store/store_fixture.h"
#include "tests/fakes/database_rows.h"

namespace ksearch {
namespace {

using testing::ElementsAre;

class WorldModelRowsTest : public StoreTest {
 protected:
  WorldModelRowsTest() { NewRun("r1"); }

  static v1::Node* AddNode(v1::WorldModel* model, const std::string& id) {
    v1::Node* node = model->add_nodes();
    node->set_node_id(id);
    node->set_insertion_index(model->next_insertion_index());
    node->set_notes(std::string(400, 'n'));
    model->set_next_insertion_index(model->next_insertion_index() + 1);
    return node;
  }
  absl::Status Commit(v1::WorldModel* model) {
    model->set_revision(model->revision() + 1);
    StepCommit step = Step("r1");
    step.world_model = model;
    return store_->CommitStep(step);
  }
  // Bytes of the parts that came with the revision.
  int64_t BytesOf(int64_t revision) {
    return std::stoll(Rows(path(), absl::StrCat("SELECT CAST(TOTAL(length(body)) AS INTEGER) FROM "
                                                "world_model_parts WHERE revision = ",
                                                revision))
                          .at(0));
  }
};

TEST_F(WorldModelRowsTest, EveryRevisionIsReadAsItWas) {
  Rng rng(7);
  v1::WorldModel model;
  model.set_root_id("root");
  AddNode(&model, "root");
  std::map<int64_t, std::string> trees;
  for (int i = 0; i < 120; ++i) {
    const auto size = static_cast<uint64_t>(model.nodes_size());
    switch (rng.NextBelow(4)) {
      case 0:
      case 1:
        AddNode(&model, absl::StrCat("n", i));
        break;
      case 2:
        model.mutable_nodes(static_cast<int>(rng.NextBelow(size)))->set_overall_rating(i);
        break;
      default:
        if (size < 2) break;
        model.add_tombstones()->set_node_id(absl::StrCat("t", i));
        model.mutable_nodes()->DeleteSubrange(1 + static_cast<int>(rng.NextBelow(size - 1)), 1);
    }
    model.set_active_node_id(absl::StrCat("n", i));
    ASSERT_TRUE(Commit(&model).ok());
    trees[model.revision()] = model.SerializeAsString();
    // After a restart the store reads what it kept before.
    if (i % 17 == 0) Reopen();
  }
  for (const auto& [revision, tree] : trees) {
    EXPECT_EQ(store_->ReadWorldModel("r1", revision)->SerializeAsString(), tree) << revision;
  }
  EXPECT_EQ(store_->ReadWorldModel("r1", 0)->SerializeAsString(), trees.rbegin()->second);
}

TEST_F(WorldModelRowsTest, ARevisionWritesWhatItChanged) {
  v1::WorldModel model;
  for (int i = 0; i < 2000; ++i) AddNode(&model, absl::StrCat("n", i));
  ASSERT_TRUE(Commit(&model).ok());
  EXPECT_GT(BytesOf(1), 2000 * 400);
  model.mutable_nodes(3)->set_overall_rating(9);
  AddNode(&model, "new");
  ASSERT_TRUE(Commit(&model).ok());
  EXPECT_LT(BytesOf(2), 1000);
  Reopen();  // the store knows only what is stored of the tree
  model.mutable_nodes(4)->set_overall_rating(9);
  ASSERT_TRUE(Commit(&model).ok());
  EXPECT_LT(BytesOf(3), 600);
  EXPECT_THAT(Rows(path(), "SELECT MAX(length(body)) < 100 FROM world_models"), ElementsAre("1"));
}

TEST_F(WorldModelRowsTest, AStepThatFailsLeavesTheTreeAsItWas) {
  v1::WorldModel model;
  AddNode(&model, "root");
  ASSERT_TRUE(Commit(&model).ok());
  const v1::WorldModel before = model;
  model.mutable_nodes(0)->set_notes("lost");
  model.set_revision(2);
  StepCommit step = Step("r1");
  step.world_model = &model;
  step.lost_calls = {"no such call"};
  ASSERT_FALSE(store_->CommitStep(step).ok());
  EXPECT_EQ(store_->ReadWorldModel("r1", 0)->SerializeAsString(), before.SerializeAsString());
  model.mutable_nodes(0)->set_notes("kept");
  step.lost_calls.clear();
  ASSERT_TRUE(store_->CommitStep(step).ok());
  EXPECT_EQ(store_->ReadWorldModel("r1", 0)->nodes(0).notes(), "kept");
}

TEST_F(WorldModelRowsTest, TreesKeptWholeByEarlierVersionsGoOn) {
  v1::WorldModel model;
  AddNode(&model, "root");
  AddNode(&model, "a");
  model.set_revision(1);
  {
    auto database = Database::Open(path(), Database::Mode::kReadWriteCreate).value();
    ASSERT_TRUE(
        database->Prepare("INSERT INTO world_models (run_id, revision, body) VALUES (?, 1, ?)")
            .Text("r1")
            .Blob(model.SerializeAsString())
            .Run()
            .ok());
  }
  const std::string whole = model.SerializeAsString();
  EXPECT_EQ(store_->ReadWorldModel("r1", 0)->SerializeAsString(), whole);
  model.mutable_nodes(1)->set_notes("changed");
  ASSERT_TRUE(Commit(&model).ok());
  EXPECT_EQ(store_->ReadWorldModel("r1", 1)->SerializeAsString(), whole);
  EXPECT_EQ(store_->ReadWorldModel("r1", 2)->SerializeAsString(), model.SerializeAsString());
}

}  // namespace
}  // namespace ksearch

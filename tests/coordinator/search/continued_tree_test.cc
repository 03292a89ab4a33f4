// The trees that a search may begin with, and how it uses them.
#include "coordinator/search/continued_tree.h"

#include "common/identity.h"
#include "coordinator/world_model/world_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

v1::Sources Program(const std::string& text) {
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_CPP);
  sources.add_files()->set_path("kernel.cpp");
  sources.mutable_files(0)->set_content(text);
  return sources;
}

void AddSolved(const v1::Sources& program, double score, int round, v1::InitialTree* tree) {
  v1::WorldModel* const model = tree->mutable_world_model();
  v1::Node node;
  node.set_node_id("n" + std::to_string(model->nodes_size()));
  node.set_parent_id(kRootId);
  node.set_last_updated_round(round);
  node.add_lessons("a lesson");
  node.mutable_solution()->set_candidate_id(CandidateId(program));
  node.mutable_solution()->set_parent_candidate_id("parent");
  node.mutable_solution()->set_score(score);
  node.mutable_solution()->set_round(round);
  AppendNode(model, node);
  (*tree->mutable_programs())[CandidateId(program)] = program;
}

v1::RunConfig Config() {
  v1::RunConfig config;
  config.set_strategy("world_model");
  config.set_language(v1::LANGUAGE_CPP);
  *config.mutable_seed_solution() = Program("first").files();
  v1::InitialTree* const tree = config.mutable_initial_tree();
  *tree->mutable_world_model() = NewWorldModel();
  tree->mutable_world_model()->set_revision(40);
  AddSolved(Program("first"), 2, 7, tree);
  AddSolved(Program("second"), 3, 9, tree);
  return config;
}

std::string Fault(const v1::RunConfig& config) {
  return std::string(CheckInitialTree(config).message());
}

TEST(ContinuedTreeTest, SoundTreesOnly) {
  EXPECT_EQ(Fault(v1::RunConfig()), "");
  EXPECT_EQ(Fault(Config()), "");
  v1::RunConfig config = Config();
  config.set_strategy("shinka");
  EXPECT_THAT(Fault(config), HasSubstr("strategy 'shinka' has no tree"));
  config = Config();
  config.clear_seed_solution();
  EXPECT_THAT(Fault(config), HasSubstr("no seed_solution"));
  config = Config();
  config.mutable_initial_tree()->mutable_world_model()->mutable_nodes(1)->set_parent_id("n2");
  config.mutable_initial_tree()->mutable_world_model()->mutable_nodes(2)->set_parent_id("n1");
  EXPECT_THAT(Fault(config), HasSubstr("node n1 does not hang on the root"));
  config = Config();
  config.mutable_initial_tree()->mutable_programs()->erase(CandidateId(Program("second")));
  EXPECT_THAT(Fault(config), HasSubstr("programs has none for the solved node n2"));
  config = Config();
  (*config.mutable_initial_tree()->mutable_programs())[CandidateId(Program("second"))] =
      Program("a third");
  EXPECT_THAT(Fault(config), HasSubstr("the program of node n2 is another than"));
  config = Config();
  config.set_language(v1::LANGUAGE_CUDA);
  EXPECT_THAT(Fault(config), HasSubstr("is not in the run's language"));
  config = Config();
  for (int i = 0; i < 1024; ++i) {
    config.mutable_initial_tree()->mutable_world_model()->add_nodes();
  }
  EXPECT_THAT(Fault(config), HasSubstr("1027 nodes, at most 1024"));
}

TEST(ContinuedTreeTest, OnlyTheFirstProgramsScoreIsNew) {
  const v1::RunConfig config = Config();
  v1::ScreenedProgram seed;
  seed.set_candidate_id(CandidateId(Program("first")));
  seed.set_passed(true);
  seed.set_score(2.5);
  v1::SearchState state;
  AdoptTree(config.initial_tree(), seed, &state);
  const v1::WorldModel& model = state.world_model();
  EXPECT_TRUE(CheckInvariants(model).ok());
  EXPECT_EQ(model.revision(), 1);
  EXPECT_FALSE(IsSolved(RootOf(model)));
  const v1::Node& first = *FindNode(model, "n1");
  EXPECT_DOUBLE_EQ(first.solution().score(), 2.5);
  EXPECT_EQ(first.solution().parent_candidate_id(), "parent");
  EXPECT_EQ(first.last_updated_round(), 0);
  EXPECT_EQ(first.lessons_size(), 1);
  const v1::Node& second = *FindNode(model, "n2");
  EXPECT_DOUBLE_EQ(second.solution().score(), 3);
  EXPECT_EQ(second.solution().round(), 0);
  const v1::ScreenedProgram& known = state.solutions().at(CandidateId(Program("second")));
  EXPECT_EQ(known.sources().files(0).content(), "second");
  EXPECT_DOUBLE_EQ(known.score(), 3);
  EXPECT_DOUBLE_EQ(state.solutions().at(seed.candidate_id()).score(), 2.5);
}

}  // namespace
}  // namespace ksearch

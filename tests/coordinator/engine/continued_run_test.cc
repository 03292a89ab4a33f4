// What a run takes over from an earlier one that it names.
#include "coordinator/engine/continued_run.h"

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "coordinator/world_model/world_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class ContinuedRunTest : public testing::Test {
 protected:
  ContinuedRunTest() {
    RunRow row;
    row.run_id = "axpy-1";
    row.status.set_run_id("axpy-1");
    row.status.set_task("axpy");
    row.status.set_language(v1::LANGUAGE_CPP);
    EXPECT_TRUE(store_.CreateRun(row).ok());
    step_.run_id = "axpy-1";
    step_.status = row.status;
    config_.set_task("axpy");
    config_.set_language(v1::LANGUAGE_CPP);
    config_.set_strategy("world_model");
  }

  std::string AddCandidate(const std::string& text) {
    CandidateRow& row = step_.candidates.emplace_back();
    row.run_id = "axpy-1";
    row.sources.set_language(v1::LANGUAGE_CPP);
    row.sources.add_files()->set_path("kernel.cpp");
    row.sources.mutable_files(0)->set_content(text);
    row.candidate_id = CandidateId(row.sources);
    return row.candidate_id;
  }
  void Commit() {
    best_ = AddCandidate("the best");
    other_ = AddCandidate("another");
    step_.status.mutable_best()->set_candidate_id(best_);
    v1::WorldModel model = NewWorldModel();
    for (const std::string& id : {best_, other_}) {
      v1::Node node;
      node.set_node_id(absl::StrCat("n", model.nodes_size()));
      node.set_parent_id(kRootId);
      node.mutable_solution()->set_candidate_id(id);
      AppendNode(&model, node);
    }
    step_.world_model = &model;
    ASSERT_TRUE(store_.CommitStep(step_).ok());
  }
  std::string Fault() { return std::string(ContinueFromRun(store_, &config_).message()); }

  FakeStore store_;
  StepCommit step_;
  v1::RunConfig config_;
  std::string best_, other_;
};

TEST_F(ContinuedRunTest, BestProgramIsTheSeed) {
  Commit();
  config_.set_continue_from_solution("axpy");
  ASSERT_EQ(Fault(), "");
  EXPECT_EQ(config_.continue_from_solution(), "axpy-1");
  ASSERT_EQ(config_.seed_solution_size(), 1);
  EXPECT_EQ(config_.seed_solution(0).content(), "the best");
  EXPECT_FALSE(config_.has_initial_tree());
}

TEST_F(ContinuedRunTest, TreeComesWithTheProgramsOfItsNodes) {
  Commit();
  config_.set_continue_from_world_model("axpy-1");
  ASSERT_EQ(Fault(), "");
  EXPECT_EQ(config_.seed_solution(0).content(), "the best");
  EXPECT_EQ(config_.initial_tree().run_id(), "axpy-1");
  EXPECT_EQ(config_.initial_tree().world_model().nodes_size(), 3);
  EXPECT_EQ(config_.initial_tree().programs().at(other_).files(0).content(), "another");
}

TEST_F(ContinuedRunTest, WhatDoesNotGoTogetherIsTold) {
  config_.set_continue_from_solution("nosuch");
  EXPECT_THAT(Fault(), AllOf(HasSubstr("continue_from_solution: no run nosuch"),
                             HasSubstr("no file or folder of this name")));
  config_.set_continue_from_solution("axpy-1");
  EXPECT_THAT(Fault(), HasSubstr("no confirmed program"));
  Commit();
  config_.set_language(v1::LANGUAGE_CUDA);
  EXPECT_THAT(Fault(), HasSubstr("are in cpp, not in cuda"));
  config_.set_language(v1::LANGUAGE_CPP);
  config_.set_task("other");
  EXPECT_THAT(Fault(), HasSubstr("is on task 'axpy'"));
  config_.set_task("axpy");
  config_.add_seed_solution();
  EXPECT_THAT(Fault(), HasSubstr("a program to start from is given besides"));
  config_.clear_seed_solution();
  config_.set_continue_from_world_model("axpy-1");
  EXPECT_THAT(Fault(), HasSubstr("give one of them"));
  config_.clear_continue_from_solution();
  config_.set_strategy("best_of_n");
  EXPECT_THAT(Fault(), HasSubstr("'best_of_n' has no tree"));
  config_.set_strategy("world_model");
  config_.mutable_initial_tree()->set_run_id("mine");
  EXPECT_THAT(Fault(), HasSubstr("an initial_tree is given besides"));
  // Without a run it stays what the request says.
  config_.clear_continue_from_world_model();
  EXPECT_EQ(Fault(), "");
  EXPECT_EQ(config_.initial_tree().run_id(), "mine");
}

}  // namespace
}  // namespace ksearch

#include "coordinator/engine/run_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ksearch {
namespace {

using testing::HasSubstr;

TEST(CompleteRunConfigTest, RequestWinsOverDefaultsOverConstants) {
  v1::RunConfig defaults, request;
  defaults.set_provider("p");
  defaults.set_rounds(50);
  defaults.set_parallel(3);
  defaults.mutable_world_model()->set_stagnation_window(5);
  request.set_task("t");
  request.set_rounds(9);
  const auto config = CompleteRunConfig(request, defaults);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->rounds(), 9);
  EXPECT_EQ(config->parallel(), 3);
  EXPECT_EQ(config->seed(), 1u);
  EXPECT_EQ(config->strategy(), "world_model");
  EXPECT_EQ(config->world_model().stagnation_window(), 5);
  EXPECT_EQ(config->world_model().max_difficulty(), 4);
  EXPECT_EQ(config->world_model().preset(), v1::PRESET_DEFAULT);
  EXPECT_TRUE(config->world_model().learn_from_confirmations());
  EXPECT_DOUBLE_EQ(config->world_model().dominated_ratio(), 0.2);
  EXPECT_TRUE(config->world_model().time_baseline_first());
  EXPECT_TRUE(config->world_model().examine_new_bests());
  request.mutable_world_model()->set_time_baseline_first(false);
  request.mutable_world_model()->set_examine_new_bests(false);
  request.mutable_world_model()->set_learn_from_confirmations(false);
  request.mutable_world_model()->set_dominated_ratio(-1);
  const auto plain = CompleteRunConfig(request, defaults);
  EXPECT_FALSE(plain->world_model().learn_from_confirmations());
  EXPECT_DOUBLE_EQ(plain->world_model().dominated_ratio(), -1);
  EXPECT_FALSE(plain->world_model().time_baseline_first());
  EXPECT_FALSE(plain->world_model().examine_new_bests());
  EXPECT_EQ(config->profile(), v1::PROFILE_POLICY_AUTO);
  EXPECT_GT(config->measure().blocks_per_launch(), 0);
  EXPECT_FALSE(config->measure().has_launches());  // its default is that of the task's device
  EXPECT_GT(config->limits().memory_bytes(), 0);
}

TEST(CompleteRunConfigTest, OnlySearchesOnGpusStopEarly) {
  v1::RunConfig request;
  request.set_task("t");
  request.set_provider("p");
  EXPECT_EQ(CompleteRunConfig(request, {})->measure().early_stop_ratio(), 0);
  request.set_language(v1::LANGUAGE_CUDA);
  EXPECT_EQ(CompleteRunConfig(request, {})->measure().early_stop_ratio(), 5);
  request.mutable_measure()->set_early_stop_ratio(1e6);
  EXPECT_EQ(CompleteRunConfig(request, {})->measure().early_stop_ratio(), 1e6);
  // For a language for both, the task's device decides.
  request.clear_measure();
  request.set_language(v1::LANGUAGE_PYTHON);
  for (const auto& [device, ratio] :
       {std::pair(v1::DEVICE_CLASS_CPU, 0), std::pair(v1::DEVICE_CLASS_CUDA, 5)}) {
    EXPECT_EQ(CompleteRunConfig(request, {}, device)->measure().early_stop_ratio(), ratio);
  }
}

TEST(CompleteRunConfigTest, EveryFaultIsListedByField) {
  v1::RunConfig request;
  request.set_rounds(-1);
  request.set_parallel(1000);
  request.set_profile(static_cast<v1::ProfilePolicy>(7));
  request.mutable_world_model()->set_max_difficulty(9);
  request.mutable_limits()->mutable_call_time()->set_seconds(-1);
  request.mutable_limits()->set_memory_bytes(1);
  const auto config = CompleteRunConfig(request, {});
  ASSERT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message(config.status().message());
  for (const char* field :
       {"task", "provider", "rounds", "parallel", "profile is 7", "world_model.max_difficulty",
        "limits.call_time", "limits.memory_bytes"}) {
    EXPECT_THAT(message, HasSubstr(field));
  }
}

TEST(CompleteRunConfigTest, AStrategyHasItsOwnSettingsAndRolesAndNoOthers) {
  v1::RunConfig request;
  request.set_task("t");
  request.set_provider("p");
  request.set_strategy("best_of_n");
  const auto config = CompleteRunConfig(request, {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->best_of_n().show_seed());
  EXPECT_FALSE(config->has_world_model());

  // The coordinator's models for roles that the strategy does not have are left out.
  v1::RunConfig defaults;
  defaults.add_models()->set_role("world_model");
  defaults.add_models()->set_role("code");
  const auto coding = CompleteRunConfig(request, defaults);
  ASSERT_TRUE(coding.ok()) << coding.status();
  ASSERT_EQ(coding->models_size(), 1);
  EXPECT_EQ(coding->models(0).role(), "code");

  request.mutable_world_model()->set_max_difficulty(3);
  request.add_models()->set_role("world_model");
  const auto refused = CompleteRunConfig(request, {});
  ASSERT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  for (const char* fault : {"world_model has settings, but the run's strategy is best_of_n",
                            "models[0].role is 'world_model', must be code, or empty"}) {
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr(fault));
  }
}

TEST(CompleteRunConfigTest, GivenProgramsAreCheckedByName) {
  v1::RunConfig request;
  request.set_task("t");
  request.set_provider("p");
  request.add_seed_solution()->set_path("kernel.cpp");
  request.add_seeds()->add_files()->set_path("kernel.cpp");
  request.mutable_seeds(0)->add_files()->set_path("tile.h");
  EXPECT_TRUE(CompleteRunConfig(request, {}).ok());
  request.add_seeds()->set_origin(std::string(201, 'x'));
  request.add_seeds()->add_files()->set_path("kernel.py");
  const std::string faults(CompleteRunConfig(request, {}).status().message());
  EXPECT_THAT(faults, HasSubstr("seeds[1].files is missing"));
  EXPECT_THAT(faults, HasSubstr("seeds[1].origin is longer than 200 bytes"));
  EXPECT_THAT(faults, HasSubstr("seeds[2].files has no file that ends in .cpp"));
  while (request.seeds_size() < 16) *request.add_seeds() = request.seeds(0);
  EXPECT_THAT(std::string(CompleteRunConfig(request, {}).status().message()),
              HasSubstr("seeds: 17 programs are given, at most 16 are allowed"));
}

TEST(CompleteRunConfigTest, AZeroIsNoAbsentNumber) {
  v1::RunConfig defaults;
  defaults.set_rounds(0);
  defaults.set_parallel(0);
  defaults.set_seed(0);
  defaults.set_max_output_tokens(0);
  defaults.mutable_world_model()->set_stagnation_window(0);
  defaults.mutable_world_model()->set_max_edit_retries(0);
  defaults.mutable_measure()->set_launches(0);
  defaults.mutable_measure()->set_confidence(0);
  defaults.mutable_limits()->set_memory_bytes(0);
  const absl::Status status = CheckRunDefaults(defaults, {});
  ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  for (const char* fault :
       {"run_defaults: ", "rounds is 0", "parallel is 0", "seed is 0", "max_output_tokens is 0",
        "world_model.stagnation_window is 0", "world_model.max_edit_retries is 0",
        "measure.launches is 0", "measure.confidence is 0", "limits.memory_bytes is 0"}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(fault));
  }
  // A value in range is used.
  v1::RunConfig request;
  request.set_task("t");
  request.set_provider("p");
  request.mutable_world_model()->set_virtual_loss(0);
  request.mutable_world_model()->set_too_hard_decay(0);
  const auto config = CompleteRunConfig(request, {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->world_model().virtual_loss(), 0);
  EXPECT_EQ(config->world_model().too_hard_decay(), 0);
}

TEST(CompleteRunConfigTest, ATreeNeedsAProgramToBeginWith) {
  v1::RunConfig request;
  request.set_task("t");
  request.set_provider("p");
  request.mutable_initial_tree();
  EXPECT_THAT(std::string(CompleteRunConfig(request, {}).status().message()),
              HasSubstr("initial_tree: there is no seed_solution"));
}

TEST(CompleteRunConfigTest, WhatItBeginsWithReplacesTheDefaults) {
  v1::RunConfig request, defaults;
  request.set_task("t");
  request.set_provider("p");
  request.set_continue_from_solution("run");
  defaults.add_seed_solution()->set_path("kernel.cpp");
  defaults.add_seeds()->add_files()->set_path("kernel.cpp");
  auto config = CompleteRunConfig(request, defaults);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->seed_solution_size() + config->seeds_size(), 0);
  std::swap(request, defaults);
  request.set_task("t");
  config = CompleteRunConfig(request, defaults);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->continue_from_solution(), "");
  EXPECT_EQ(config->seeds_size(), 1);
}

TEST(CompleteRunConfigTest, NotANumberIsOutsideEveryRange) {
  v1::RunConfig request;
  request.set_task("t");
  request.set_provider("p");
  request.mutable_measure()->set_confidence(std::nan(""));
  request.mutable_ucb()->set_exploration(-std::numeric_limits<double>::infinity());
  request.add_models()->set_weight(std::nan(""));
  const auto config = CompleteRunConfig(request, {});
  ASSERT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  for (const char* field : {"measure.confidence", "ucb.exploration", "models[0].weight"}) {
    EXPECT_THAT(std::string(config.status().message()), HasSubstr(field));
  }
}

}  // namespace
}  // namespace ksearch

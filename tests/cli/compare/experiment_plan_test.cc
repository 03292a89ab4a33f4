#include "cli/compare/experiment_plan.h"

#include <cstdlib>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr char kGood[] = R"(
  name: "e1"
  tasks: "t1" tasks: "t2"
  seeds: 3
  common { rounds: 12 provider: "p" model: "m" budget { tokens: 100000 } }
  arms { name: "plain" config { strategy: "best_of_n" } }
  arms { name: "tree" config { strategy: "world_model" world_model { stagnation_window: 3 } } }
)";

std::string Faults(const std::string& text) {
  return std::string(ParseExperiment(text, "f").status().message());
}

TEST(ExperimentPlanTest, DefaultsAreFilledIn) {
  const auto experiment = ParseExperiment(kGood, "f");
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  EXPECT_EQ(experiment->reference_arm(), "plain");
  EXPECT_EQ(experiment->remeasuring().top(), 3);
  EXPECT_EQ(experiment->remeasuring().sessions(), 3);
  EXPECT_EQ(experiment->confidence(), 0.95);
  EXPECT_EQ(experiment->runs_at_once(), 4);
}

TEST(ExperimentPlanTest, ArmsOfOneTaskAndSeedStandSideBySideWithNamesOfTheirOwn) {
  const auto experiment = ParseExperiment(kGood, "f");
  ASSERT_TRUE(experiment.ok());
  const std::vector<PlannedTrial> trials = TrialsOf(*experiment);
  ASSERT_EQ(trials.size(), 2 * 2 * 3);
  std::set<std::string> requests;
  for (size_t i = 0; i < trials.size(); ++i) {
    const PlannedTrial& trial = trials[i];
    EXPECT_EQ(trial.arm, static_cast<int>(i % 2));
    EXPECT_EQ(trial.task, i / 2 % 2 == 0 ? "t1" : "t2");
    EXPECT_EQ(trial.seed, i / 4 + 1);
    EXPECT_EQ(trial.config.rounds(), 12);
    EXPECT_EQ(trial.config.seed(), trial.seed);
    EXPECT_EQ(trial.config.trial().seed(), trial.seed);
    EXPECT_EQ(trial.config.trial().experiment(), "e1");
    EXPECT_EQ(trial.config.trial().arm(), trial.arm == 0 ? "plain" : "tree");
    requests.insert(trial.request_id);
  }
  EXPECT_EQ(requests.size(), trials.size());
  EXPECT_EQ(trials[1].config.world_model().stagnation_window(), 3);
  // Later plans have the same ids, and plans with more seeds begin with them.
  v1::Experiment larger = *experiment;
  larger.set_seeds(5);
  EXPECT_EQ(TrialsOf(larger)[3].request_id, trials[3].request_id);
}

TEST(ExperimentPlanTest, WhatMustBeEqualIsRefusedByItsField) {
  const auto with_arm = [](const std::string& config) {
    return Faults(
        absl::StrCat(kGood, "arms { name: 'x' config { strategy: 'sequential' ", config, " } }"));
  };
  EXPECT_THAT(with_arm("rounds: 50"),
              HasSubstr("f: arms[2].config.rounds is set; it must be equal for all arms: set "
                        "common.rounds"));
  EXPECT_THAT(with_arm("budget { usd: '1' }"), HasSubstr("arms[2].config.budget is set"));
  EXPECT_THAT(with_arm("measure { launches: 3 }"), HasSubstr("arms[2].config.measure is set"));
  EXPECT_THAT(with_arm("evaluation { time_baseline_first: true }"),
              HasSubstr("arms[2].config.evaluation is set"));
  EXPECT_THAT(with_arm("seed: 4"), HasSubstr("arms[2].config.seed is set; it follows from tasks"));
  EXPECT_THAT(with_arm("model: 'other'"),
              HasSubstr("or name it in compared_fields if it is what is compared"));
  EXPECT_THAT(with_arm("sequential { history: 3 }"), IsEmpty());
  EXPECT_THAT(Faults(absl::StrCat(kGood,
                                  "compared_fields: 'model' arms { name: 'x' config { model: "
                                  "'other' } }")),
              IsEmpty());
  EXPECT_THAT(Faults(absl::StrCat(kGood, "compared_fields: 'rounds'")),
              HasSubstr("compared_fields[0] is 'rounds', must be provider, model,"));
}

TEST(ExperimentPlanTest, FaultsNameTheirFields) {
  EXPECT_THAT(Faults("nmae: 'x'"), HasSubstr("f:1:"));
  EXPECT_THAT(Faults("name: 'a b'"),
              AllOf(HasSubstr("name is 'a b'"), HasSubstr("tasks is empty"),
                    HasSubstr("arms needs at least two"), HasSubstr("common.rounds is missing")));
  const auto with = [](const std::string& more) { return Faults(absl::StrCat(kGood, more)); };
  EXPECT_THAT(with("arms { name: 'tree' }"), HasSubstr("arms[2].name 'tree' is given twice"));
  EXPECT_THAT(with("reference_arm: 'none'"), HasSubstr("reference_arm is 'none'"));
  EXPECT_THAT(with("tasks: 't1'"), HasSubstr("tasks names 't1' twice"));
  EXPECT_THAT(with("confidence: 1.5"), HasSubstr("confidence is 1.5"));
  EXPECT_THAT(with("runs_at_once: 1"), HasSubstr("runs_at_once is 1, must be from 2"));
  EXPECT_THAT(with("remeasuring { sessions: 1 }"), HasSubstr("remeasuring.sessions is 1"));
  EXPECT_THAT(with("max_usd: 'much'"), HasSubstr("max_usd is 'much'"));
  EXPECT_THAT(
      Faults("name: 'x' tasks: 't' seeds: -1 common { rounds: 3 strategy: 'y' seed: 1 "
             "replay_order_of: 'r' budget { wall_time { seconds: 3 } } } arms { name: 'a' } "
             "arms { name: 'b' }"),
      AllOf(HasSubstr("seeds is -1"), HasSubstr("common.strategy is set; arms differ in it"),
            HasSubstr("common.seed is set"), HasSubstr("common.replay_order_of is set"),
            HasSubstr("common.budget.wall_time is set")));
}

TEST(ExperimentPlanTest, ShippedExperimentsAreInOrder) {
  for (const char* name : {"experiment", "strategies"}) {
    const auto experiment = ReadExperiment(absl::StrCat(
        std::getenv("KSEARCH_SOURCE_DIR"), "/configs/demo/landscapes/", name, ".textproto"));
    ASSERT_TRUE(experiment.ok()) << experiment.status();
    EXPECT_EQ(TrialsOf(*experiment).size(),
              static_cast<size_t>(experiment->seeds() * experiment->arms_size()));
  }
}

TEST(ExperimentPlanTest, GivenProgramsAreOfATask) {
  const auto with = [](const std::string& more) { return Faults(absl::StrCat(kGood, more)); };
  EXPECT_THAT(with("seed_solutions { task: 't3' programs: 'a.cpp' }"),
              HasSubstr("seed_solutions[0].task is 't3', which is not among tasks"));
  EXPECT_THAT(with("seed_solutions { task: 't1' }"),
              HasSubstr("seed_solutions[0].programs is empty"));
  EXPECT_THAT(with("seed_solutions { task: 't1' programs: 'a' } "
                   "seed_solutions { task: 't1' programs: 'b' }"),
              HasSubstr("seed_solutions[1].task 't1' is given twice"));
  EXPECT_THAT(
      Faults("name: 'x' tasks: 't' common { rounds: 3 seeds { origin: 'o' } "
             "continue_from_solution: 'r' } arms { name: 'a' } arms { name: 'b' }"),
      AllOf(HasSubstr("common.seeds is set; a program belongs to one task: name it in "
                      "seed_solutions"),
            HasSubstr("common.continue_from_solution is set; a program belongs to one task")));
  EXPECT_THAT(Faults("name: 'x' tasks: 't' common { rounds: 3 feedback_workloads: 'w' } "
                     "arms { name: 'a' } arms { name: 'b' }"),
              HasSubstr("common.feedback_workloads is set; workloads belong to one task"));
  const auto experiment =
      ParseExperiment(absl::StrCat(kGood, "seed_solutions { task: 't2' programs: 'a.cpp' }"), "f");
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  v1::SeedProgram program;
  program.add_files()->set_path("a.cpp");
  for (const PlannedTrial& trial : TrialsOf(*experiment, {{"t2", {program}}})) {
    EXPECT_EQ(trial.config.seed_solution_size(), trial.task == "t2" ? 1 : 0);
  }
}

TEST(ExperimentPlanTest, EveryStrategysSettingsAreArmsToSet) {
  EXPECT_THAT(
      StrategyFields(),
      AllOf(IsSupersetOf({"strategy", "world_model", "best_of_n", "sequential", "openevolve",
                          "evoengineer", "shinka", "racing", "puct", "adaevolve"}),
            Not(testing::Contains("ucb")), Not(testing::Contains("evaluation"))));
}

TEST(ExperimentPlanTest, RecordedRunsAreToldFromOthersByField) {
  const auto experiment = ParseExperiment(kGood, "f");
  ASSERT_TRUE(experiment.ok());
  const v1::RunConfig planned = TrialsOf(*experiment)[1].config;
  v1::RunConfig recorded = planned;
  recorded.set_seed(9);
  recorded.mutable_trial()->set_seed(9);
  recorded.mutable_platform()->set_device_model("d");
  recorded.mutable_world_model()->set_time_baseline_first(false);
  EXPECT_THAT(DifferingFields(planned, recorded), IsEmpty());
  recorded.set_rounds(13);
  recorded.mutable_world_model()->set_stagnation_window(4);
  EXPECT_THAT(DifferingFields(planned, recorded), ElementsAre("rounds", "world_model"));
}

}  // namespace
}  // namespace ksearch

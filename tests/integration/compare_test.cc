// `ksearch compare` with the real programs: a model that simulates a landscape, a real worker that
// builds and times its programs, kills at random instants.
//
// Kills (default 3):   KSEARCH_KILLS=20 integration_compare_test
// Other instants:      KSEARCH_CRASH_SEED=7 integration_compare_test
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/rng.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "proto/experiment.pb.h"
#include "proto/search_service.pb.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kRounds = 3;
constexpr int kSeeds = 2;
// An experiment takes this long on an idle machine; a kill comes earlier.
constexpr double kMostSecondsToAKill = 8;

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  int value = otherwise;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

class CompareTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.UseOwnDevice();
    cluster_.StartModelServer(
        LocalCluster::SourcePath("configs/demo/landscapes/smooth.landscape.textproto"));
    cluster_.StartCoordinator("", LocalCluster::SourcePath("configs/demo/landscapes/tasks"));
    cluster_.StartWorker("w1");
  }

  // The path of an experiment in which the second arm is `arm`.
  std::string Experiment(const std::string& more = "",
                         const std::string& arm = "strategy: \"sequential\"", int rounds = kRounds,
                         const std::string& common = "") {
    const std::string path = cluster_.folder() + "/experiment.textproto";
    const std::string text = absl::StrCat(
        R"(
      name: "small" tasks: "tunable_scale_f32" seeds: )",
        kSeeds, R"(
      common {
        rounds: )",
        rounds, common, R"(
        measure { max_time_per_workload { nanos: 20000000 } max_calls: 20 launches: 2
                  blocks_per_launch: 2 min_block_time { nanos: 1000000 } }
      }
      arms { name: "plain" config { strategy: "best_of_n" } }
      arms { name: "other" config { )",
        arm, R"( } }
      remeasuring { top: 1 sessions: 2 }
      bootstrap_samples: 500
    )",
        more);
    EXPECT_TRUE(WriteFileAtomically(path, text).ok());
    return path;
  }

  CommandOutput Compare(const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"compare", cluster_.folder() + "/experiment.textproto"};
    args.insert(args.end(), more.begin(), more.end());
    return cluster_.Cli(args, absl::Minutes(12));
  }

  v1::ListRunsReply Runs() {
    return FromJson<v1::ListRunsReply>(cluster_.Cli({"status", "--json"}).out);
  }
  v1::ListResultsReply Results() {
    return FromJson<v1::ListResultsReply>(
        cluster_.Cli({"results", "--limit", "1000", "--json"}).out);
  }

  std::unique_ptr<Subprocess> StartCompare(const std::string& path) {
    SubprocessOptions options;
    options.argv = {cluster_.BinaryPath("ksearch"), "--coordinator", cluster_.address(), "compare",
                    path};
    auto started = Subprocess::Start(options);
    EXPECT_TRUE(started.ok()) << started.status();
    return started.ok() ? *std::move(started) : nullptr;
  }

  LocalCluster cluster_;
};

TEST_F(CompareTest, WhatCannotBeComparedIsRefusedBeforeAnythingIsSpent) {
  const auto refused = [&] {
    const CommandOutput output = Compare();
    EXPECT_EQ(output.exit.code, 3) << output.out << output.err;
    return output.err;
  };
  Experiment("", "strategy: \"sequential\" rounds: 9");
  EXPECT_THAT(refused(), HasSubstr("arms[1].config.rounds is set; it must be equal for all arms"));
  Experiment("", "strategy: \"hillclimb\"");
  EXPECT_THAT(refused(), AllOf(HasSubstr("arms[1] (other)"), HasSubstr("hillclimb")));
  Experiment("", "strategy: \"sequential\" best_of_n { show_seed: true }");
  EXPECT_THAT(refused(), AllOf(HasSubstr("arms[1] (other)"), HasSubstr("best_of_n")));
  Experiment("", "strategy: \"sequential\" sequential { history: 99 }");
  EXPECT_THAT(refused(), AllOf(HasSubstr("arms[1] (other)"), HasSubstr("sequential.history")));
  Experiment("", "strategy: \"sequential\"", kRounds, " budget { tokens: 20 }");
  EXPECT_THAT(refused(), HasSubstr("common.budget.tokens is 20, but the first call of arm"));
  Experiment("max_device_time { nanos: 1000 }");
  EXPECT_THAT(refused(), HasSubstr("max_device_time is 1us"));
  Experiment("seed_solutions { task: \"tunable_scale_f32\" programs: \"result\" }");
  std::filesystem::create_directory(cluster_.folder() + "/result");
  EXPECT_TRUE(
      WriteFileAtomically(cluster_.folder() + "/result/kernel.cpp", "int ksearch_run();").ok());
  EXPECT_TRUE(WriteFileAtomically(cluster_.folder() + "/result/record.json",
                                  R"({"task": "softmax_rows_f32"})")
                  .ok());
  EXPECT_THAT(refused(), AllOf(HasSubstr("seed_solutions[0].programs: "),
                               HasSubstr("is for task softmax_rows_f32, not for")));
  Experiment();
  const CommandOutput dry = Compare({"--dry-run"});
  EXPECT_EQ(dry.exit.code, 0) << dry.err;
  EXPECT_THAT(dry.out,
              AllOf(HasSubstr("4 runs of 3 evaluations"), HasSubstr("No model was asked")));
  const auto cost = FromJson<v1::ExperimentCost>(Compare({"--dry-run", "--json"}).out);
  EXPECT_EQ(cost.workers(), 1);
  EXPECT_EQ(cost.lines_size(), 2);
  EXPECT_EQ(Runs().runs_size(), 0);
}

TEST_F(CompareTest, GoesOnWhereItWasKilledAndMeasuresNothingTwice) {
  const std::string path = Experiment();
  const int seed = FromEnvironment("KSEARCH_CRASH_SEED", 1);
  std::printf("KSEARCH_CRASH_SEED=%d\n", seed);
  Rng rng(static_cast<uint64_t>(seed));
  const int kills = FromEnvironment("KSEARCH_KILLS", 3);
  for (int i = 0; i < kills; ++i) {
    std::unique_ptr<Subprocess> command = StartCompare(path);
    ASSERT_NE(command, nullptr);
    // Either process may be killed first, while the other continues for a while.
    const double seconds = rng.NextDouble() * kMostSecondsToAKill;
    const bool command_first = rng.NextBelow(2) == 0;
    const double later = rng.NextDouble();
    std::printf("  %.2f s: kill -9 of the %s, %.2f s later of the other\n", seconds,
                command_first ? "command" : "coordinator", later);
    absl::SleepFor(absl::Seconds(seconds));
    if (command_first) command.reset();  // SIGKILL
    if (!command_first) cluster_.Kill("coordinator");
    absl::SleepFor(absl::Seconds(later));
    command.reset();
    if (command_first) cluster_.Kill("coordinator");
    cluster_.StartCoordinator("", LocalCluster::SourcePath("configs/demo/landscapes/tasks"));
  }
  const std::string html = cluster_.folder() + "/report.html";
  const CommandOutput output = Compare({"--json", "--html", html});
  ASSERT_EQ(output.exit.code, 0) << output.err;
  const auto report = FromJson<v1::ExperimentReport>(output.out);
  EXPECT_EQ(report.trials_missing(), 0);
  ASSERT_EQ(report.trials_size(), 2 * kSeeds);
  for (const v1::TrialSummary& trial : report.trials()) {
    EXPECT_EQ(trial.state(), "finished") << trial.reason();
    EXPECT_EQ(trial.evaluations(), kRounds);
    EXPECT_TRUE(trial.remeasured());
    EXPECT_GT(trial.tokens(), 0);
    EXPECT_GT(trial.device_seconds(), 0);
  }
  ASSERT_EQ(report.comparisons_size(), 1);
  EXPECT_EQ(report.comparisons(0).pairs(), kSeeds);
  EXPECT_THAT(ReadFile(html, 1 << 24).value(), HasSubstr("<!doctype html>"));
  // Every run belongs to one planned trial.
  const v1::ListRunsReply runs = Runs();
  ASSERT_EQ(runs.runs_size(), 2 * kSeeds);
  std::set<std::string> places;
  for (const v1::RunStatus& run : runs.runs()) {
    EXPECT_EQ(run.trial().experiment(), "small");
    places.insert(absl::StrCat(run.trial().arm(), "/", run.trial().seed()));
  }
  EXPECT_EQ(places.size(), 2 * kSeeds);
  // Every run's programs were screened for it alone, and once.
  int programs = 0, screened = 0;
  for (const v1::TrialSummary& trial : report.trials()) programs += trial.distinct_programs();
  const v1::ListResultsReply results = Results();
  for (const v1::ResultSummary& result : results.results()) {
    screened += result.kind() == v1::JOB_KIND_SCREEN;
    EXPECT_NE(result.outcome(), v1::OUTCOME_WORKER_LOST);
  }
  EXPECT_EQ(screened, programs);
  // A repetition gives the same to the last digit, and measures nothing.
  EXPECT_EQ(Compare({"--json"}).out, output.out);
  EXPECT_EQ(Results().results_size(), results.results_size());
  // Another setting under the same name is no longer the same experiment.
  Experiment("", "strategy: \"sequential\"", kRounds + 1);
  const CommandOutput changed = Compare();
  EXPECT_EQ(changed.exit.code, 3);
  EXPECT_THAT(changed.err, HasSubstr("was started with another rounds"));
}

}  // namespace
}  // namespace ksearch

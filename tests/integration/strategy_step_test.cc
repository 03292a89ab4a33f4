// The cost of one step of a long search, for each strategy: the bytes that it changes in the run's
// state and tree, and the time to write them. Real strategies on a landscape, and the real
// store.
//
// With 5,000 programs (default 600):  KSEARCH_PROGRAMS=5000 strategy_step_test
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/textproto.h"
#include "coordinator/store/state_pieces.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/directory_suite.h"
#include "proto/run_state.pb.h"
#include "tests/common/repetitions.h"
#include "tests/integration/landscape_search.h"
#include "tests/integration/store_rows.h"

namespace ksearch {
namespace {

constexpr int kLastRounds = 60;  // the last rounds of the search, whose steps are examined
// Limit for the bytes that most steps change.
constexpr int64_t kMostBytes = 20 << 10;

int Programs() {
  int programs = Repetitions(600, 100);
  const char* const given = std::getenv("KSEARCH_PROGRAMS");
  if (given != nullptr && !absl::SimpleAtoi(given, &programs)) ADD_FAILURE() << "KSEARCH_PROGRAMS";
  return programs;
}

template <typename Value>
Value Quantile(std::vector<Value> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

struct Arm {
  const char* name;
  const char* strategy;
  bool embeddings = false;
};

void PrintTo(const Arm& arm, std::ostream* out) { *out << arm.name; }

class StrategyStepTest : public testing::TestWithParam<Arm> {
 protected:
  StrategyStepTest() {
    std::string pattern = "/tmp/ksearch-step-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    Store::Options options;
    options.path = folder_ + "/step.db";
    store_ = Store::Open(options).value();
    for (const char* id : {"run", "empty"}) {
      RunRow run;
      run.run_id = id;
      EXPECT_TRUE(store_->CreateRun(run).ok());
    }
  }
  ~StrategyStepTest() override {
    store_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  // Of the run's tree.
  int64_t BytesOfRevision(int64_t revision) {
    const std::string number = absl::StrCat(revision);
    int64_t bytes = 0;
    for (const std::string& count : StoreRows(
             folder_ + "/step.db",
             absl::StrCat("SELECT length(body) FROM world_models WHERE revision = ", number,
                          " UNION ALL SELECT TOTAL(length(body)) FROM world_model_parts WHERE "
                          "revision = ",
                          number))) {
      double length = 0;
      EXPECT_TRUE(absl::SimpleAtod(count, &length)) << count;
      bytes += static_cast<int64_t>(length);
    }
    return bytes;
  }

  std::string folder_;
  std::unique_ptr<Store> store_;
};

TEST_P(StrategyStepTest, ChangesLittle) {
  const std::string folder =
      absl::StrCat(std::getenv("KSEARCH_SOURCE_DIR"), "/configs/demo/landscapes/");
  const LandscapePlayer player(Landscape::Load(folder + "smooth.landscape.textproto").value());
  const v1::Task task =
      MakeDirectorySuite({folder + "tasks"}).value()->Load("tunable_scale_f32").value();
  v1::RunConfig config;
  config.set_strategy(GetParam().strategy);
  if (GetParam().embeddings) {
    config.mutable_shinka()->set_embeddings(true);
    config.mutable_shinka()->set_novelty_threshold(1);  // compares all, and refuses none
  }
  config.set_language(v1::LANGUAGE_CPP);
  config.set_rounds(Programs());
  config.set_parallel(4);
  config.set_seed(1);

  PiecedState kept;
  std::string state;
  std::vector<int64_t> changed;
  std::vector<double> decisions, saves, commits, empties, processor;  // in milliseconds
  const auto milliseconds = [](absl::Time from, absl::Time to) {
    return absl::ToDoubleMilliseconds(to - from);
  };
  int64_t revision = 0;
  bool first = true;
  const auto look = [&](const SearchStrategy& strategy, absl::Duration deciding) {
    v1::RunStatus status;
    status.set_state(v1::RUN_STATE_RUNNING);
    strategy.Describe(&status);
    if (status.rounds_done() < Programs() - kLastRounds) return;
    const std::clock_t used = std::clock();
    const absl::Time start = Clock::Real().SteadyNow();
    v1::RunEngineState engine;
    engine.set_strategy_state(strategy.Save());
    StepCommit step;
    step.run_id = "run";
    step.status = std::move(status);
    if (const v1::WorldModel* tree = strategy.world_model();
        tree != nullptr && tree->revision() != revision) {
      step.world_model = tree;
      revision = tree->revision();
    }
    step.state = engine.SerializeAsString();
    const absl::Time saved = Clock::Real().SteadyNow();
    ASSERT_TRUE(store_->CommitStep(step).ok());
    const absl::Time committed = Clock::Real().SteadyNow();
    const double ticks = static_cast<double>(std::clock() - used);
    state = step.state;
    // The time of disk and thread at this moment, regardless of content.
    StepCommit nothing;
    nothing.run_id = "empty";
    const absl::Time empty = Clock::Real().SteadyNow();
    ASSERT_TRUE(store_->CommitStep(nothing).ok());
    empties.push_back(milliseconds(empty, Clock::Real().SteadyNow()));

    // The same once more, to see what was written.
    const PieceChanges changes = kept.ChangeTo(state);
    int64_t bytes = static_cast<int64_t>(changes.order.size() + step.status.ByteSizeLong());
    if (step.world_model != nullptr) bytes += BytesOfRevision(revision);
    for (const auto& [number, body] : changes.written) bytes += static_cast<int64_t>(body.size());
    if (std::exchange(first, false)) return;  // the first step writes everything
    decisions.push_back(absl::ToDoubleMilliseconds(deciding));
    changed.push_back(bytes);
    saves.push_back(milliseconds(start, saved));
    commits.push_back(milliseconds(saved, committed));
    processor.push_back(1000 * ticks / CLOCKS_PER_SEC);
  };
  const LandscapeSearch found = SearchLandscape(player, task, config, LandscapeListener(), look);
  EXPECT_EQ(found.error, "");
  ASSERT_FALSE(changed.empty());
  EXPECT_EQ(store_->ReadRun("run")->state, state);

  // State; written; processor time of the decision, and of saving and committing; time of saving,
  // of committing, and of committing nothing.
  std::printf(
      "| `%s` | %d | %zu KiB | %.1f (%.1f) KiB | %.2f ms | %.2f ms | %.2f, %.2f, %.2f ms |\n",
      GetParam().name, found.evaluations, state.size() >> 10,
      static_cast<double>(Quantile(changed, 0.5)) / 1024,
      static_cast<double>(Quantile(changed, 1.0)) / 1024, Quantile(decisions, 0.5),
      Quantile(processor, 0.5), Quantile(saves, 0.5), Quantile(commits, 0.5),
      Quantile(empties, 0.5));
  std::fflush(stdout);
  EXPECT_LE(Quantile(changed, 1.0), kMostBytes);
}

INSTANTIATE_TEST_SUITE_P(
    Each, StrategyStepTest,
    testing::Values(Arm{"world_model", "world_model"}, Arm{"best_of_n", "best_of_n"},
                    Arm{"sequential", "sequential"}, Arm{"openevolve", "openevolve"},
                    Arm{"evoengineer", "evoengineer"}, Arm{"shinka", "shinka"},
                    Arm{"shinka_embeddings", "shinka", /*embeddings=*/true},
                    Arm{"racing", "racing"}, Arm{"puct", "puct"}, Arm{"adaevolve", "adaevolve"}),
    [](const auto& arm) { return std::string(arm.param.name); });

}  // namespace
}  // namespace ksearch

// What runs remember about changes, with the real programs: a model that simulates a landscape, and
// a worker that builds and times its programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/textproto.h"
#include "proto/search_service.pb.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/store_rows.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kHeading[] = "# What changes brought in earlier searches";

class MemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.UseOwnDevice();
    cluster_.StartModelServer(
        LocalCluster::SourcePath("configs/demo/landscapes/smooth.landscape.textproto"));
    StartCoordinator();
    cluster_.StartWorker("w1");
    ASSERT_TRUE(WriteFileAtomically(config_, R"(
      measure { max_time_per_workload { nanos: 20000000 } max_calls: 20 launches: 2
                blocks_per_launch: 2 min_block_time { nanos: 1000000 } }
    )")
                    .ok());
  }
  void StartCoordinator() {
    cluster_.StartCoordinator("", LocalCluster::SourcePath("configs/demo/landscapes/tasks"));
  }

  std::string Start(const std::vector<std::string>& more) {
    std::vector<std::string> args = {
        "run",      "--task", "tunable_scale_f32", "--rounds",           "3",
        "--config", config_,  "--detach",          "--wait-for-workers", "60s"};
    args.insert(args.end(), more.begin(), more.end());
    const CommandOutput started = cluster_.Cli(args);
    EXPECT_EQ(started.exit.code, 0) << started.err;
    return FromJson<v1::ListRunsReply>(cluster_.Cli({"status", "--json"}).out).runs(0).run_id();
  }
  // The id of a run of three rounds that has ended.
  std::string Run(const std::vector<std::string>& more = {}) {
    const std::string run_id = Start(more);
    cluster_.Cli({"watch", run_id}, absl::Minutes(5));
    const auto status = FromJson<v1::RunStatus>(cluster_.Cli({"status", run_id, "--json"}).out);
    EXPECT_EQ(status.state(), v1::RUN_STATE_FINISHED) << status.ShortDebugString();
    EXPECT_EQ(status.rounds_done(), 3);
    return run_id;
  }
  v1::RunMemory Show(const std::string& run_id) {
    return FromJson<v1::RunMemory>(cluster_.Cli({"memory", "show", run_id, "--json"}).out);
  }
  v1::ListMemoryReply List(std::vector<std::string> args) {
    args.insert(args.begin(), {"memory", "ls", "--json"});
    const CommandOutput output = cluster_.Cli(args);
    EXPECT_EQ(output.exit.code, 0) << output.err;
    return FromJson<v1::ListMemoryReply>(output.out);
  }
  // Of the run's first call, once there is one.
  std::string FirstPrompt(const std::string& run_id) {
    const absl::Time give_up = absl::Now() + absl::Minutes(2);
    while (absl::Now() < give_up) {
      const std::vector<std::string> prompts =
          StoreRows(cluster_.folder() + "/state/ksearch.db",
                    absl::StrCat("SELECT prompt FROM llm_calls WHERE run_id = '", run_id,
                                 "' ORDER BY number LIMIT 1"));
      if (!prompts.empty()) return prompts[0];
      absl::SleepFor(absl::Milliseconds(20));
    }
    ADD_FAILURE() << run_id << " asks nothing";
    return "";
  }

  LocalCluster cluster_;
  const std::string config_ = cluster_.folder() + "/run.textproto";
};

TEST_F(MemoryTest, WhatOneRunMeasuredTheNextOneIsShown) {
  const std::string first = Run();
  EXPECT_FALSE(Show(first).has_snapshot());
  EXPECT_EQ(Show(first).use().mode(), v1::MEMORY_MODE_READ_WRITE);
  EXPECT_THAT(FirstPrompt(first), Not(HasSubstr(kHeading)));
  const v1::ListMemoryReply gains = List({"--one-by-one", "--run", first});
  ASSERT_GT(gains.gains_size(), 0);
  EXPECT_EQ(gains.gains_size(), Show(first).gains_written());
  for (const v1::MeasuredGain& gain : gains.gains()) {
    EXPECT_EQ(gain.run_id(), first);
    EXPECT_EQ(gain.task(), "tunable_scale_f32");
    EXPECT_EQ(gain.language(), v1::LANGUAGE_CPP);
    EXPECT_FALSE(gain.architecture().empty());
  }
  const v1::ListMemoryReply groups = List({});
  ASSERT_EQ(groups.groups_size(), 1);
  EXPECT_EQ(groups.groups(0).architecture(), gains.gains(0).architecture());
  EXPECT_THAT(cluster_.Cli({"memory", "ls"}).out, HasSubstr("the baseline"));

  // The snapshot is the run's own, whatever becomes of the memory.
  const std::string second = Run({"--memory", "read"});
  const v1::RunMemory read = Show(second);
  ASSERT_TRUE(read.has_snapshot());
  EXPECT_GT(read.snapshot().gains(), 0);
  EXPECT_EQ(read.gains_written(), 0);
  EXPECT_THAT(FirstPrompt(second), HasSubstr(kHeading));

  const std::string blind = Run({"--memory", "off"});
  EXPECT_FALSE(Show(blind).has_snapshot());
  EXPECT_THAT(FirstPrompt(blind), Not(HasSubstr(kHeading)));
  EXPECT_EQ(Show(blind).gains_written(), 0);

  cluster_.Kill("coordinator");
  StartCoordinator();
  EXPECT_EQ(List({"--one-by-one"}).gains_size(), gains.gains_size());
  EXPECT_EQ(cluster_.Cli({"memory", "forget"}).exit.code, 2);
  EXPECT_EQ(cluster_.Cli({"memory", "forget", "--all", "--run", first}).exit.code, 2);
  const CommandOutput forgotten = cluster_.Cli({"memory", "forget", "--run", first});
  EXPECT_EQ(forgotten.exit.code, 0) << forgotten.err;
  EXPECT_EQ(forgotten.out, absl::StrCat(gains.gains_size(), " measured gains forgotten\n"));
  EXPECT_EQ(List({}).groups_size(), 0);

  const std::string repeated = Start({"--replay-order", second});
  EXPECT_EQ(Show(repeated).snapshot().SerializeAsString(), read.snapshot().SerializeAsString());
  EXPECT_EQ(Show(repeated).use().mode(), v1::MEMORY_MODE_READ);
  EXPECT_EQ(FirstPrompt(repeated), FirstPrompt(second));
  cluster_.Cli({"stop", repeated});
  EXPECT_EQ(List({}).groups_size(), 0) << "a repetition adds nothing";
}

}  // namespace
}  // namespace ksearch

// The provider of Slurm jobs with a real slurmctld and two slurmd. Instead of a worker it runs a
// program that waits and ends on SIGUSR1 and SIGTERM, as a worker does.
#include "tests/autoscaler/slurm_cluster.h"

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "autoscaler/fleet/slurm_fleet.h"
#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/autoscaler/program_folder.h"
#include "tests/fakes/eventually.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using Manner = FleetProvider::Manner;
using State = Instance::State;

class SlurmClusterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = SlurmCluster::WhyNot(); !why.empty()) GTEST_SKIP() << why;
    slurm_ = std::make_unique<SlurmCluster>(folder_.path() + "/slurm");
    const absl::Status ready = slurm_->AwaitReady();
    ASSERT_TRUE(ready.ok()) << ready;
    ::setenv("SLURM_CONF", slurm_->config().c_str(), 1);
    pool_.set_name("test");
    pool_.set_most(2);
    pool_.set_coordinator_for_workers("127.0.0.1:7400");
    *pool_.mutable_cool_down() = ToProto(absl::Minutes(5));
    *pool_.mutable_leave_grace() = ToProto(absl::Seconds(1));
    pool_.mutable_slurm()->set_cpus(1);
    pool_.mutable_slurm()->set_gres("gpu:fake:1");
    *pool_.mutable_slurm()->mutable_time_limit() = ToProto(absl::Minutes(10));
    pool_.mutable_slurm()->set_work_dir(folder_.path());
    pool_.mutable_slurm()->set_worker_command(folder_.Write(
        "worker",
        "echo \"began $KSEARCH_POOL $KSEARCH_INSTANCE $CUDA_VISIBLE_DEVICES [$KSEARCH_TOKEN] $*\"\n"
        "trap 'echo got USR1; exit 0' USR1\ntrap 'echo got TERM; exit 0' TERM\n"
        "while :; do sleep 0.1; done\n"));
    fleet_ = SlurmFleet::Create(pool_).value();
  }
  void TearDown() override { ::unsetenv("SLURM_CONF"); }

  bool AwaitState(size_t count, State state) {
    return Eventually(
        [&] {
          const auto listed = fleet_->List();
          if (!listed.ok() || listed->instances.size() != count) return false;
          for (const Instance& one : listed->instances) {
            if (one.state != state) return false;
          }
          return true;
        },
        absl::Seconds(60));
  }
  std::string Log(const std::string& id) {
    return folder_.Read(absl::StrCat("ksearch-test-", id, ".log"));
  }

  ProgramFolder folder_;
  std::unique_ptr<SlurmCluster> slurm_;
  v1::WorkerPool pool_;
  std::unique_ptr<FleetProvider> fleet_;
};

TEST_F(SlurmClusterTest, JobsStartSayWhoTheyAreAndLeaveWhenTold) {
  ::setenv("KSEARCH_TOKEN", "of the autoscaler", 1);
  const absl::Status started = fleet_->Start(2);
  ::unsetenv("KSEARCH_TOKEN");
  ASSERT_TRUE(started.ok()) << started;
  ASSERT_TRUE(AwaitState(2, State::kRunning));
  const Fleet fleet = fleet_->List().value();
  for (const Instance& one : fleet.instances) {
    EXPECT_TRUE(Eventually([&] { return !Log(one.id).empty(); }));
    EXPECT_THAT(Log(one.id), HasSubstr(absl::StrCat("began test ", one.id, " ")));
    EXPECT_THAT(Log(one.id), HasSubstr("[] --coordinator 127.0.0.1:7400 --state-dir "));
  }
  // A second autoscaler, or this one after a restart, finds them.
  EXPECT_EQ(SlurmFleet::Create(pool_).value()->List()->instances.size(), 2u);
  ASSERT_TRUE(fleet_->Stop(fleet.instances[0].id, Manner::kGently).ok());
  ASSERT_TRUE(AwaitState(1, State::kRunning));
  EXPECT_THAT(Log(fleet.instances[0].id), HasSubstr("got USR1"));
  ASSERT_TRUE(fleet_->Stop(fleet.instances[1].id, Manner::kAtOnce).ok());
  ASSERT_TRUE(AwaitState(0, State::kRunning));
  EXPECT_TRUE(fleet_->Stop(fleet.instances[1].id, Manner::kGently).ok());
  EXPECT_TRUE(fleet_->Stop(fleet.instances[1].id, Manner::kAtOnce).ok());
  const absl::Status idle = slurm_->AwaitReady();
  EXPECT_TRUE(idle.ok()) << idle;
}

TEST_F(SlurmClusterTest, APreemptedJobGetsTermAndComesBackUnderItsName) {
  ASSERT_TRUE(fleet_->Start(1).ok());
  ASSERT_TRUE(AwaitState(1, State::kRunning));
  const std::string id = fleet_->List()->instances[0].id;
  EXPECT_TRUE(Eventually([&] { return !Log(id).empty(); }));
  slurm_->Run({"scontrol", "requeue", id});
  ASSERT_TRUE(AwaitState(1, State::kPending));
  EXPECT_TRUE(Eventually([&] { return Log(id).find("got TERM") != std::string::npos; }));
  EXPECT_EQ(fleet_->List()->instances[0].id, id);
  EXPECT_EQ(fleet_->List()->instances[0].note, "BeginTime");
  // A pending job is canceled at once.
  ASSERT_TRUE(fleet_->Stop(id, Manner::kGently).ok());
  EXPECT_TRUE(AwaitState(0, State::kRunning));
}

TEST_F(SlurmClusterTest, WhatHasNoRoomWaitsAndSaysWhy) {
  pool_.set_most(3);
  fleet_ = SlurmFleet::Create(pool_).value();
  ASSERT_TRUE(fleet_->Start(3).ok());
  EXPECT_TRUE(Eventually(
      [&] {
        int running = 0;
        std::string note;
        const auto listed = fleet_->List();
        if (!listed.ok()) return false;
        for (const Instance& one : listed->instances) {
          running += one.state == State::kRunning;
          if (one.state == State::kPending) note = one.note;
        }
        return listed->instances.size() == 3 && running == 2 && note == "Resources";
      },
      absl::Seconds(60)));
}

TEST_F(SlurmClusterTest, RefusalsAreInSlurmsOwnWords) {
  pool_.mutable_slurm()->set_partition("nowhere");
  EXPECT_THAT(std::string(SlurmFleet::Create(pool_).value()->Start(1).message()),
              HasSubstr("sbatch: "));
  EXPECT_THAT(std::string(SlurmFleet::Create(pool_).value()->Start(1).message()),
              HasSubstr("Invalid partition name specified"));
}

}  // namespace
}  // namespace ksearch

// One pool with a simulated provider and coordinator.
#include "autoscaler/pool_keeper.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Manner = FleetProvider::Manner;

class FakeFleetProvider final : public FleetProvider {
 public:
  absl::StatusOr<Fleet> List() override {
    ++lists;
    if (!list_error.ok()) return list_error;
    return fleet;
  }
  absl::Status Start(int count) override {
    started.push_back(count);
    if (!start_error.ok()) return start_error;
    for (int i = 0; i < count && !vanish; ++i) {
      fleet.instances.push_back({absl::StrCat("i", ++last_), Instance::State::kPending, ""});
    }
    return absl::OkStatus();
  }
  absl::Status Stop(const std::string& id, Manner manner) override {
    stopped.emplace_back(id, manner);
    if (!stop_error.ok()) return stop_error;
    if (ends) std::erase_if(fleet.instances, [&](const Instance& one) { return one.id == id; });
    return absl::OkStatus();
  }
  std::string Plan() const override { return ""; }
  std::string LogOf(const std::string& id) const override { return logs + "/" + id; }

  Fleet fleet;
  absl::Status list_error, start_error, stop_error;
  std::vector<int> started;
  std::vector<std::pair<std::string, Manner>> stopped;
  bool ends = true;     // stopped instances end
  bool vanish = false;  // started instances vanish
  std::string logs = "logs";
  int lists = 0;

 private:
  int last_ = 0;
};

class FakeCoordinator final : public Coordinator {
 public:
  absl::StatusOr<v1::DemandReply> Demand() override { return v1::DemandReply(); }
  absl::StatusOr<v1::ListWorkersReply> Workers() override { return v1::ListWorkersReply(); }
  absl::Status ReportPool(const v1::ReportPoolRequest& request) override {
    last = request;
    return refusal;
  }
  v1::ReportPoolRequest last;
  absl::Status refusal;
};

class PoolKeeperTest : public ::testing::Test {
 protected:
  PoolKeeperTest() : path_(testing::TempDir() + "/pool_keeper_test.state"), spending_(Open(path_)) {
    pool_.set_name("p");
    pool_.set_most(4);
    pool_.mutable_offer()->set_slots(1);
    *pool_.mutable_work_per_instance() = ToProto(absl::Minutes(5));
    *pool_.mutable_cool_down() = ToProto(absl::Minutes(5));
    *pool_.mutable_start_within() = ToProto(absl::Minutes(10));
    *pool_.mutable_back_off() = ToProto(absl::Seconds(30));
    *pool_.mutable_leave_grace() = ToProto(absl::Seconds(60));
    pool_.mutable_command();
  }
  static Spending Open(const std::string& path) {
    std::filesystem::remove(path);
    return Spending::Open(path).value();
  }
  void Make() {
    auto provider = std::make_unique<FakeFleetProvider>();
    provider_ = provider.get();
    keeper_.emplace(pool_,
                    PoolKeeper::Parts{std::move(provider), &coordinator_, &spending_, "me", "here"},
                    now_);
  }
  void Queue(int jobs, absl::Duration work) {
    demand_.Clear();
    if (jobs == 0) return;
    v1::Demand* demand = demand_.add_demands();
    demand->set_queued(jobs);
    *demand->mutable_expected_time() = ToProto(work);
  }
  // Steps every 2 s for this long; returns how often something was started.
  size_t Run(absl::Duration time) {
    const size_t before = provider_->started.size();
    for (const absl::Time end = now_ + time; now_ < end; now_ += absl::Seconds(2)) {
      v1::DemandReply demand = demand_;
      keeper_->Step(now_, workers_, demand.mutable_demands());
      left_ = demand.demands_size();
    }
    return provider_->started.size() - before;
  }
  void SetRunning(Instance::State state = Instance::State::kRunning) {
    for (Instance& instance : provider_->fleet.instances) instance.state = state;
  }
  void Connect(const std::string& id, int leases = 0) {
    v1::WorkerStatus* worker = workers_.add_workers();
    worker->set_connected(true);
    worker->mutable_hello()->set_pool("p");
    worker->mutable_hello()->set_instance(id);
    for (int i = 0; i < leases; ++i) worker->mutable_report()->add_leases();
  }
  const v1::PoolReport& said() const { return coordinator_.last.report(); }

  const std::string path_;
  v1::WorkerPool pool_;
  Spending spending_;
  FakeCoordinator coordinator_;
  FakeFleetProvider* provider_ = nullptr;
  std::optional<PoolKeeper> keeper_;
  v1::DemandReply demand_;
  v1::ListWorkersReply workers_;
  absl::Time now_ = absl::UnixEpoch() + absl::Hours(1);
  int left_ = 0;  // demand for other pools
};

TEST_F(PoolKeeperTest, DemandIsMetOnceAndGoesBackToZero) {
  Make();
  Queue(1, absl::Minutes(1));
  Run(absl::Minutes(1));
  EXPECT_THAT(provider_->started, ElementsAre(1));
  EXPECT_EQ(said().last_action(), "started 1: 1 job waits for a processor");
  EXPECT_EQ(said().pending(), 1);
  EXPECT_EQ(left_, 0);  // this pool serves it
  SetRunning();
  Connect("i1", 1);
  Queue(0, absl::ZeroDuration());
  Run(absl::Minutes(10));
  EXPECT_EQ(said().connected(), 1);
  EXPECT_THAT(provider_->stopped, IsEmpty());  // it is busy
  workers_.mutable_workers(0)->mutable_report()->clear_leases();
  Run(absl::Seconds(30));
  ASSERT_EQ(provider_->stopped.size(), 1u);
  EXPECT_EQ(provider_->stopped[0], std::make_pair(std::string("i1"), Manner::kGently));
  EXPECT_EQ(said().running(), 0);
  EXPECT_EQ(said().fault(), "");
}

TEST_F(PoolKeeperTest, AQuietProviderIsNotAskedAllTheTime) {
  Make();
  Run(absl::Minutes(10));
  EXPECT_LE(provider_->lists, 61);
}

TEST_F(PoolKeeperTest, NothingIsDoneWithAPoolThatAnotherHolds) {
  Make();
  coordinator_.refusal = absl::AbortedError("held by another autoscaler");
  Queue(10, absl::Hours(10));
  EXPECT_EQ(Run(absl::Minutes(1)), 0u);
  EXPECT_EQ(provider_->lists, 0);
  coordinator_.refusal = absl::OkStatus();
  EXPECT_EQ(Run(absl::Seconds(2)), 1u);
}

TEST_F(PoolKeeperTest, ARefusedStartIsToldAndTriedAgainEverMoreRarely) {
  Make();
  provider_->start_error = absl::UnavailableError("sbatch: error: QOSMaxSubmitJobPerUserLimit");
  Queue(10, absl::Hours(10));
  EXPECT_EQ(Run(absl::Seconds(20)), 1u);
  EXPECT_EQ(said().fault(), "sbatch: error: QOSMaxSubmitJobPerUserLimit");
  EXPECT_GT(FromProto(said().retry_in()), absl::Seconds(5));
  EXPECT_EQ(left_, 1);  // for the next pool
  EXPECT_LE(Run(absl::Hours(1)), 8u);
  provider_->start_error = absl::OkStatus();
  Run(absl::Minutes(20));
  EXPECT_EQ(provider_->fleet.instances.size(), 4u);
  EXPECT_EQ(said().fault(), "");
}

TEST_F(PoolKeeperTest, InstancesThatEndBeforeTheyConnectSpendNoMoneyInALoop) {
  Make();
  Queue(4, absl::Hours(1));
  int born = 0;
  for (int minute = 0; minute < 600; ++minute) {
    Run(absl::Minutes(1));
    born += static_cast<int>(provider_->fleet.instances.size());
    SetRunning();
    provider_->fleet.instances.clear();  // wrong CUDA on the node
  }
  EXPECT_GT(born, 4);
  EXPECT_LE(born, 4 * 50);
  EXPECT_THAT(said().fault(), HasSubstr("ended before its worker connected: see logs/i"));
}

TEST_F(PoolKeeperTest, WhatEndsBeforeItIsSeenIsAFailureToo) {
  Make();
  provider_->vanish = true;
  Queue(1, absl::Minutes(1));
  Run(absl::Seconds(4));
  EXPECT_EQ(said().fault(), "what was started ended before it was seen: see logs/");
  EXPECT_LE(Run(absl::Hours(1)), 10u) << "no loop that spends money";
  provider_->vanish = false;
  Run(absl::Minutes(20));
  EXPECT_EQ(provider_->fleet.instances.size(), 1u);
  EXPECT_EQ(said().fault(), "");
}

TEST_F(PoolKeeperTest, TheLastWordOfAWorkerThatEndedIsTold) {
  Make();
  provider_->logs = testing::TempDir() + "/pool_keeper_test.logs";
  std::filesystem::create_directories(provider_->logs);
  Queue(1, absl::Minutes(1));
  Run(absl::Seconds(4));
  std::ofstream(provider_->logs + "/i1")
      << std::string(10'000, 'x') << "\nksearch-worker: there is no NVIDIA driver\x1b[0m here\n\n";
  provider_->fleet.instances.clear();
  Run(absl::Seconds(20));
  EXPECT_EQ(said().fault(), absl::StrCat("i1 ended before its worker connected: see ",
                                         provider_->logs, "/i1, which ends with: ",
                                         "ksearch-worker: there is no NVIDIA driver [0m here"));
  std::filesystem::remove_all(provider_->logs);
}

TEST_F(PoolKeeperTest, AWorkerThatNeverConnectsIsGivenUp) {
  Make();
  Queue(1, absl::Minutes(1));
  Run(absl::Minutes(1));
  Run(absl::Hours(1));  // waiting in the scheduler's queue costs nothing
  EXPECT_THAT(provider_->stopped, IsEmpty());
  SetRunning();
  Run(absl::Minutes(9));
  EXPECT_THAT(provider_->stopped, IsEmpty());
  Run(absl::Seconds(80));
  ASSERT_GE(provider_->stopped.size(), 1u);
  EXPECT_EQ(provider_->stopped[0].second, Manner::kAtOnce);
  EXPECT_THAT(said().fault(), HasSubstr("has not connected: see logs/i1"));
}

TEST_F(PoolKeeperTest, AnInstanceThatCannotRunIsStoppedAndTheReasonTold) {
  Make();
  Queue(1, absl::Minutes(1));
  Run(absl::Seconds(4));
  provider_->fleet.instances[0].state = Instance::State::kFailed;
  provider_->fleet.instances[0].note = "ImagePullBackOff: no such image";
  Run(absl::Seconds(20));
  ASSERT_EQ(provider_->stopped.size(), 1u);
  EXPECT_EQ(said().fault(), "i1: ImagePullBackOff: no such image");
}

TEST_F(PoolKeeperTest, WhyPendingInstancesWaitIsTold) {
  Make();
  Queue(1, absl::Minutes(1));
  Run(absl::Seconds(4));
  provider_->fleet.instances[0].note = "Unschedulable: 3 Insufficient nvidia.com/gpu";
  Run(absl::Seconds(20));
  EXPECT_EQ(said().waits_for(), "Unschedulable: 3 Insufficient nvidia.com/gpu");
  EXPECT_EQ(said().fault(), "");  // it may come yet
  SetRunning();
  Run(absl::Seconds(20));
  EXPECT_EQ(said().waits_for(), "");
}

TEST_F(PoolKeeperTest, AStopThatTheProviderRefusesIsAskedForAgainAfterAWhile) {
  Make();
  Queue(1, absl::Minutes(1));
  Run(absl::Seconds(4));
  SetRunning();
  Connect("i1");
  Queue(0, absl::ZeroDuration());
  provider_->stop_error = absl::UnavailableError("403, forbidden");
  Run(absl::Minutes(5) + absl::Seconds(20));
  ASSERT_EQ(provider_->stopped.size(), 1u);
  Run(absl::Seconds(30));
  EXPECT_EQ(provider_->stopped.size(), 2u);
  EXPECT_EQ(provider_->stopped[1].second, Manner::kGently);
  provider_->stop_error = absl::OkStatus();
  Run(absl::Seconds(40));
  EXPECT_EQ(provider_->stopped.size(), 3u);
  EXPECT_THAT(provider_->fleet.instances, IsEmpty());
}

TEST_F(PoolKeeperTest, AFaultThatKeepsPendingInstancesFromRunningRestsThePool) {
  Make();
  Queue(1, absl::Minutes(1));
  Run(absl::Seconds(4));
  provider_->fleet.fault = "FailedCreate: exceeded quota: gpus";
  Run(absl::Seconds(12));
  Queue(4, absl::Hours(1));
  EXPECT_EQ(Run(absl::Seconds(14)), 0u);
  EXPECT_EQ(said().fault(), "FailedCreate: exceeded quota: gpus");
  EXPECT_TRUE(said().has_retry_in());
  EXPECT_THAT(provider_->stopped, IsEmpty());
}

TEST_F(PoolKeeperTest, AConnectedWorkerForgivesEarlierFailures) {
  Make();
  Queue(1, absl::Minutes(1));
  Run(absl::Seconds(2));
  for (int i = 0; i < 4; ++i) {
    provider_->fleet.instances.clear();
    Run(absl::Minutes(10));
  }
  ASSERT_FALSE(provider_->fleet.instances.empty());
  Connect(provider_->fleet.instances[0].id);
  SetRunning();
  Run(absl::Seconds(20));
  workers_.Clear();
  provider_->fleet.instances.clear();  // the worker ended as asked: no failure
  Run(absl::Seconds(20));
  EXPECT_EQ(said().fault(), "");
}

TEST_F(PoolKeeperTest, OneThatDoesNotLeaveIsEnded) {
  Make();
  provider_->ends = false;
  Queue(1, absl::Minutes(1));
  Run(absl::Seconds(4));
  SetRunning();
  Connect("i1");
  Queue(0, absl::ZeroDuration());
  Run(absl::Minutes(6));
  ASSERT_EQ(provider_->stopped.size(), 1u);
  EXPECT_EQ(provider_->stopped[0].second, Manner::kGently);
  Run(absl::Minutes(3));
  ASSERT_GE(provider_->stopped.size(), 2u);
  EXPECT_EQ(provider_->stopped[1].second, Manner::kAtOnce);
}

TEST_F(PoolKeeperTest, AtTheCapOfItsMoneyAllLeaveAndNothingIsStarted) {
  pool_.set_usd_per_hour("6");
  pool_.set_usd_cap("1");
  Make();
  Queue(1, absl::Minutes(1));
  Run(absl::Seconds(4));
  SetRunning();
  Connect("i1", 1);
  Run(absl::Minutes(9));
  EXPECT_THAT(provider_->stopped, IsEmpty());
  EXPECT_NEAR(static_cast<double>(said().nano_usd_spent()) * 1e-9, 0.9, 0.05);
  Run(absl::Minutes(2));
  ASSERT_GE(provider_->stopped.size(), 1u);
  EXPECT_THAT(said().fault(), HasSubstr("its cap"));
  const size_t started = provider_->started.size();
  Run(absl::Hours(1));
  EXPECT_EQ(provider_->started.size(), started);
  EXPECT_EQ(left_, 1);
}

TEST_F(PoolKeeperTest, AProviderThatDoesNotAnswerIsLeftAloneForAWhile) {
  Make();
  provider_->list_error = absl::UnavailableError("squeue did not end within 1m");
  Queue(1, absl::Minutes(1));
  EXPECT_EQ(Run(absl::Hours(1)), 0u);
  EXPECT_EQ(said().fault(), "squeue did not end within 1m");
  EXPECT_LE(provider_->lists, 9);
}

TEST_F(PoolKeeperTest, InstancesOfAnEarlierLifeAreCountedBeforeMoreAreStarted) {
  Make();
  provider_->fleet.instances = {{"old", Instance::State::kPending, ""}};
  Queue(2, absl::Minutes(8));
  Run(absl::Seconds(4));
  EXPECT_THAT(provider_->started, ElementsAre(1));
}

TEST_F(PoolKeeperTest, ReleaseGivesThePoolFree) {
  Make();
  keeper_->Release();
  EXPECT_TRUE(coordinator_.last.release());
}

}  // namespace
}  // namespace ksearch

#include "gpu_worker/session/lease_runner.h"

#include <memory>

#include "common/identity.h"
#include "gtest/gtest.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/fake_executor.h"

namespace ksearch {
namespace {

v1::Task SomeTask() {
  v1::Task task;
  task.set_name("axpy");
  return task;
}

class LeaseRunnerTest : public ::testing::Test {
 protected:
  LeaseRunnerTest() : tasks_([](const std::string&) { return SomeTask().SerializeAsString(); }) {}

  void StartRunner(int slots) {
    runner_ = std::make_unique<LeaseRunner>(
        slots, "w1", executor_, tasks_, inputs_, held_,
        [this](const v1::RecordResultRequest& request, std::string* why) {
          if (!keep_error_.empty()) {
            *why = keep_error_;
            return false;
          }
          MutexLock lock(&mu_);
          kept_.push_back(request);
          held_.Finish(request.lease_id());
          return true;
        });
  }
  static v1::JobOffer Offer(const std::string& lease) {
    v1::JobOffer offer;
    offer.set_lease_id(lease);
    offer.set_attempt(2);
    offer.mutable_spec()->set_salt(lease);
    offer.mutable_spec()->set_task_sha256(TaskDigest(SomeTask()));
    offer.set_job_id(JobId(offer.spec()));
    return offer;
  }
  void Give(const v1::JobOffer& offer) {
    v1::WorkerDown down;
    down.set_directive_seq(++seq_);
    *down.add_offers() = offer;
    for (const v1::JobOffer& accepted : held_.Apply(down).start) runner_->Enqueue(accepted);
  }
  std::vector<v1::RecordResultRequest> kept() {
    MutexLock lock(&mu_);
    return kept_;
  }
  // Returns why the only lease was returned; empty if it was not.
  std::string Returned() {
    const v1::WorkerReport report = held_.Report(v1::DeviceHealth());
    return report.leases_size() == 1 ? report.leases(0).returned() : "";
  }

  Mutex mu_;
  std::vector<v1::RecordResultRequest> kept_;
  std::string keep_error_;
  int64_t seq_ = 0;
  FakeExecutor executor_;
  HeldLeases held_{2};
  TaskCache tasks_;
  std::unique_ptr<BlobFolder> folder_ = *BlobFolder::Open(testing::TempDir() + "/ksearch-inputs");
  TaskInputs inputs_{folder_.get(),
                     [](const std::string&, int64_t, const TaskInputs::Take&) {
                       return absl::NotFoundError("no blob");
                     },
                     0};
  std::unique_ptr<LeaseRunner> runner_;
};

TEST_F(LeaseRunnerTest, ResultCarriesJobAttemptAndWorker) {
  StartRunner(1);
  Give(Offer("a"));
  ASSERT_TRUE(Eventually([&] { return kept().size() == 1; }));
  const v1::RecordResultRequest request = kept()[0];
  EXPECT_EQ(request.lease_id(), "a");
  EXPECT_EQ(request.result().job_id(), Offer("a").job_id());
  EXPECT_EQ(request.result().attempt(), 2);
  EXPECT_EQ(request.result().worker_id(), "w1");
  EXPECT_EQ(request.result().outcome(), v1::OUTCOME_PASSED);
}

TEST_F(LeaseRunnerTest, SlotsRunAtOnceInOrderOfArrival) {
  executor_.Hold(true);
  StartRunner(2);
  for (const char* lease : {"a", "b", "c"}) Give(Offer(lease));
  ASSERT_TRUE(Eventually([&] { return executor_.started() == 2; }));
  EXPECT_TRUE(held_.Start("c"));  // shows that it had not begun
  EXPECT_FALSE(held_.Start("a"));
}

TEST_F(LeaseRunnerTest, StoppedJobIsDropped) {
  executor_.Hold(true);
  StartRunner(1);
  Give(Offer("a"));
  ASSERT_TRUE(Eventually([&] { return executor_.started() == 1; }));
  runner_->Stop("a");
  ASSERT_TRUE(Eventually([&] { return held_.empty(); }));
  EXPECT_TRUE(kept().empty());
}

TEST_F(LeaseRunnerTest, InfrastructureTroubleReturnsTheLease) {
  executor_.FailWith(absl::UnavailableError("no compiler"));
  StartRunner(1);
  Give(Offer("a"));
  ASSERT_TRUE(Eventually([&] { return !Returned().empty(); }));
  EXPECT_EQ(Returned(), "no compiler");
}

TEST_F(LeaseRunnerTest, JobWhoseIdIsNotItsContentIsReturned) {
  StartRunner(1);
  v1::JobOffer offer = Offer("a");
  offer.mutable_spec()->set_salt("tampered");
  Give(offer);
  ASSERT_TRUE(Eventually([&] { return !Returned().empty(); }));
  EXPECT_NE(Returned().find("job_id does not match"), std::string::npos);
  EXPECT_EQ(executor_.started(), 0);
}

TEST_F(LeaseRunnerTest, AnInputThatIsNotThereReturnsTheLease) {
  v1::Task task = SomeTask();
  task.add_workloads()->add_inputs()->mutable_recorded()->set_sha256(std::string(64, 'a'));
  TaskCache tasks([&](const std::string&) { return task.SerializeAsString(); });
  v1::JobOffer offer = Offer("l1");
  offer.mutable_spec()->set_task_sha256(TaskDigest(task));
  offer.set_job_id(JobId(offer.spec()));
  runner_ = std::make_unique<LeaseRunner>(
      1, "w1", executor_, tasks, inputs_, held_,
      [](const v1::RecordResultRequest&, std::string*) { return true; });
  Give(offer);
  EXPECT_TRUE(Eventually([&] { return !Returned().empty(); }));
  EXPECT_NE(Returned().find("fetching input aaaa"), std::string::npos) << Returned();
  runner_.reset();
}

TEST_F(LeaseRunnerTest, UnknownTaskReturnsTheLease) {
  StartRunner(1);
  v1::JobOffer offer = Offer("a");
  offer.mutable_spec()->set_task_sha256(std::string(64, '0'));
  offer.set_job_id(JobId(offer.spec()));
  Give(offer);
  ASSERT_TRUE(Eventually([&] { return !Returned().empty(); }));
  EXPECT_EQ(executor_.started(), 0);
}

TEST_F(LeaseRunnerTest, ResultThatCannotBeKeptReturnsTheLease) {
  keep_error_ = "disk full";
  StartRunner(1);
  Give(Offer("a"));
  ASSERT_TRUE(Eventually([&] { return !Returned().empty(); }));
  EXPECT_EQ(Returned(), "keeping the result: disk full");
}

TEST_F(LeaseRunnerTest, DestructionStopsWhatExecutes) {
  executor_.Hold(true);
  StartRunner(2);
  Give(Offer("a"));
  ASSERT_TRUE(Eventually([&] { return executor_.started() == 1; }));
  runner_.reset();
  EXPECT_EQ(executor_.ended(), 1);
}

}  // namespace
}  // namespace ksearch

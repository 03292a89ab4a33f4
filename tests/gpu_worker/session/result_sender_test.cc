#include "gpu_worker/session/result_sender.h"

#include <map>
#include <memory>

#include "gtest/gtest.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/small_disk.h"
#include "tests/gpu_worker/session/scratch_folder.h"

namespace ksearch {
namespace {

using Answer = absl::StatusOr<v1::RecordResultReply::Disposition>;

class ResultSenderTest : public ::testing::Test {
 protected:
  ResultSenderTest() : spool_(ResultSpool::Open(scratch_.path()).value()) {}

  void StartSender() {
    sender_ = std::make_unique<ResultSender>(
        *spool_, held_,
        [this](const v1::RecordResultRequest& request) -> Answer {
          MutexLock lock(&mu_);
          const int call = ++calls_[request.lease_id()];
          if (call <= failures_) return failure_;
          return v1::RecordResultReply::RECORDED;
        },
        Backoff(absl::Milliseconds(1), absl::Milliseconds(2), 1));
  }
  void Fail(int times, absl::Status with) {
    MutexLock lock(&mu_);
    failures_ = times;
    failure_ = std::move(with);
  }
  int calls(const std::string& lease) {
    MutexLock lock(&mu_);
    return calls_[lease];
  }
  // The record that the lease runner writes.
  v1::RecordResultRequest Executed(const std::string& lease) {
    v1::WorkerDown down;
    down.set_directive_seq(++seq_);
    down.add_offers()->set_lease_id(lease);
    held_.Apply(down);
    held_.Start(lease);
    v1::RecordResultRequest request;
    request.set_lease_id(lease);
    request.mutable_result()->set_attempt(1);
    return request;
  }

  ScratchFolder scratch_;
  std::unique_ptr<ResultSpool> spool_;
  HeldLeases held_{1};
  Mutex mu_;
  std::map<std::string, int> calls_ ABSL_GUARDED_BY(mu_);
  int failures_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
  int64_t seq_ = 0;
  std::unique_ptr<ResultSender> sender_;
};

TEST_F(ResultSenderTest, AcknowledgedResultLeavesSpoolAndReports) {
  StartSender();
  ASSERT_TRUE(sender_->Add(Executed("a")).ok());
  ASSERT_TRUE(Eventually([&] { return held_.empty(); }));
  EXPECT_TRUE(spool_->Load().empty());
  EXPECT_EQ(calls("a"), 1);
}

TEST_F(ResultSenderTest, SendsUntilAcknowledged) {
  Fail(5, absl::UnavailableError("away"));
  StartSender();
  ASSERT_TRUE(sender_->Add(Executed("a")).ok());
  ASSERT_TRUE(Eventually([&] { return held_.empty(); }));
  EXPECT_EQ(calls("a"), 6);
}

TEST_F(ResultSenderTest, ResultsOfAnEarlierLifeAreListedAndSent) {
  v1::RecordResultRequest old;
  old.set_lease_id("old");
  old.mutable_result()->set_job_id("job");
  ASSERT_TRUE(spool_->Put(old).ok());
  Fail(3, absl::UnavailableError("away"));
  StartSender();
  EXPECT_TRUE(Eventually([&] { return held_.empty(); }));
  EXPECT_EQ(calls("old"), 4);
}

TEST_F(ResultSenderTest, ResultIsSentAlthoughTheDiskIsFull) {
  SmallDisk disk(scratch_.path() + "/small", "1m");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  spool_ = ResultSpool::Open(disk.path()).value();
  disk.Fill();
  Fail(2, absl::UnavailableError("away"));
  StartSender();
  ASSERT_TRUE(sender_->Add(Executed("a")).ok());
  ASSERT_TRUE(Eventually([&] { return held_.empty(); }));
  EXPECT_EQ(calls("a"), 3);
  EXPECT_TRUE(spool_->Load().empty());
}

TEST_F(ResultSenderTest, ResultIsSpooledOnceTheDiskHasRoom) {
  SmallDisk disk(scratch_.path() + "/small", "1m");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  spool_ = ResultSpool::Open(disk.path()).value();
  disk.Fill();
  Fail(1 << 30, absl::UnavailableError("away"));
  StartSender();
  ASSERT_TRUE(sender_->Add(Executed("a")).ok());
  ASSERT_TRUE(Eventually([&] { return calls("a") > 2; }));
  EXPECT_TRUE(spool_->Load().empty());
  disk.MakeRoom();
  EXPECT_TRUE(Eventually([&] { return spool_->Load().size() == 1; }));
  sender_.reset();
  EXPECT_EQ(ResultSpool::Open(disk.path()).value()->Load().size(), 1u);
}

TEST_F(ResultSenderTest, UnacknowledgedResultStaysInTheSpool) {
  Fail(1'000'000, absl::UnavailableError("away"));
  StartSender();
  ASSERT_TRUE(sender_->Add(Executed("a")).ok());
  ASSERT_TRUE(Eventually([&] { return calls("a") > 0; }));
  sender_.reset();
  EXPECT_EQ(spool_->Load().size(), 1u);
  EXPECT_EQ(held_.Report(v1::DeviceHealth()).leases(0).state(), v1::HeldLease::FINISHED);
}

TEST_F(ResultSenderTest, RefusedResultIsSetAsideAndItsLeaseReturned) {
  Fail(1'000'000, absl::InvalidArgumentError("result.outcome: unknown"));
  StartSender();
  ASSERT_TRUE(sender_->Add(Executed("a")).ok());
  ASSERT_TRUE(Eventually([&] {
    return held_.Report(v1::DeviceHealth()).leases(0).state() == v1::HeldLease::RETURNED;
  }));
  EXPECT_EQ(calls("a"), 1);
  EXPECT_TRUE(spool_->Load().empty());
}

}  // namespace
}  // namespace ksearch

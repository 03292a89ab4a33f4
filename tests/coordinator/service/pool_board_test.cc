#include "coordinator/service/pool_board.h"

#include "common/textproto.h"
#include "coordinator/service/wanted_workers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/fake_clock.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

class PoolBoardTest : public ::testing::Test {
 protected:
  absl::Status Report(const std::string& holder, const std::string& fault = "",
                      bool release = false) {
    v1::ReportPoolRequest request;
    request.mutable_report()->set_pool("h200");
    request.mutable_report()->set_holder(holder);
    request.mutable_report()->set_host("login1");
    request.mutable_report()->set_fault(fault);
    request.set_release(release);
    event_.reset();
    return board_.Report(request, &event_);
  }

  FakeClock clock_;
  PoolBoard board_{clock_};
  std::optional<v1::FleetEvent> event_;
};

TEST_F(PoolBoardTest, OneAutoscalerHoldsAPoolForAsLongAsItReports) {
  EXPECT_TRUE(Report("a").ok());
  const absl::Status refused = Report("b");
  EXPECT_EQ(refused.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("login1"));
  clock_.Advance(absl::Seconds(20));
  EXPECT_TRUE(Report("a").ok());
  clock_.Advance(absl::Seconds(20));
  EXPECT_FALSE(Report("b").ok());
  clock_.Advance(absl::Seconds(11));
  EXPECT_FALSE(board_.Pools()[0].held());
  EXPECT_TRUE(Report("b").ok());
  EXPECT_FALSE(Report("a").ok());
}

TEST_F(PoolBoardTest, APoolThatIsReleasedIsFreeAtOnce) {
  EXPECT_TRUE(Report("a").ok());
  EXPECT_TRUE(Report("a", "", /*release=*/true).ok());
  EXPECT_TRUE(Report("b").ok());
}

TEST_F(PoolBoardTest, FaultsAreToldWhenTheyBeginAndEnd) {
  EXPECT_TRUE(Report("a").ok());
  EXPECT_FALSE(event_.has_value());
  EXPECT_TRUE(Report("a", "sbatch: quota").ok());
  ASSERT_TRUE(event_.has_value());
  EXPECT_EQ(event_->kind(), v1::FleetEvent::POOL_FAULT);
  EXPECT_EQ(event_->text(), "pool h200: sbatch: quota");
  EXPECT_TRUE(Report("a", "sbatch: quota").ok());
  EXPECT_FALSE(event_.has_value());
  EXPECT_TRUE(Report("a").ok());
  EXPECT_EQ(event_->kind(), v1::FleetEvent::POOL_WELL);
}

TEST_F(PoolBoardTest, BadReportsNameTheField) {
  EXPECT_THAT(std::string(Report("").message()), HasSubstr("report.holder"));
  EXPECT_THAT(std::string(Report("a", "two\nlines").message()), HasSubstr("report.fault"));
  v1::ReportPoolRequest request;
  request.mutable_report()->set_pool("a/b");
  EXPECT_THAT(std::string(board_.Report(request, &event_).message()), HasSubstr("report.pool"));
  request.mutable_report()->set_pool("a");
  request.mutable_report()->set_holder("b");
  request.mutable_hold_for()->set_seconds(10'000);
  EXPECT_THAT(std::string(board_.Report(request, &event_).message()), HasSubstr("hold_for"));
}

TEST(WantedWorkersTest, ACallerCountsOnceAndNotForLong) {
  WantedWorkers wanted;
  Requirement requirement;
  requirement.device_model = "NVIDIA H200";
  absl::Time now = absl::UnixEpoch();
  wanted.Note(requirement, "a", now);
  wanted.Note(requirement, "a", now);
  wanted.Note(requirement, "b", now);
  EXPECT_EQ(wanted.Waiting(now)[requirement], 2);
  now += absl::Seconds(4);
  wanted.Note(requirement, "b", now);
  now += absl::Seconds(4);
  EXPECT_EQ(wanted.Waiting(now)[requirement], 1);
  now += absl::Seconds(4);
  EXPECT_TRUE(wanted.Waiting(now).empty());
}

}  // namespace
}  // namespace ksearch

#include "gpu_worker/batch_job.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

class BatchJobTest : public ::testing::Test {
 protected:
  void Set(const std::string& name, absl::Time time) {
    variables_[name] = absl::StrCat(absl::ToUnixSeconds(time));
  }
  absl::StatusOr<std::optional<absl::Duration>> TimeLeft() {
    return TimeLeftOfSlurmJob(
        [this](const std::string& name) {
          const auto it = variables_.find(name);
          return it == variables_.end() ? std::string() : it->second;
        },
        now_,
        [this](const std::string& job_id) {
          asked_ = job_id;
          return answer_;
        });
  }

  const absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  std::map<std::string, std::string> variables_;
  absl::StatusOr<std::string> answer_ = absl::NotFoundError("squeue is not on PATH");
  std::string asked_;
};

TEST_F(BatchJobTest, OutsideOfAJobThereIsNoEnd) {
  EXPECT_EQ(TimeLeft().value(), std::nullopt);
  EXPECT_EQ(asked_, "");
}

TEST_F(BatchJobTest, TheEndThatSlurmSetsCounts) {
  variables_["SLURM_JOB_ID"] = "17";
  Set("SLURM_JOB_END_TIME", now_ + absl::Hours(4));
  Set("SLURM_JOB_START_TIME", now_ - absl::Seconds(3));
  EXPECT_EQ(TimeLeft().value(), absl::Hours(4));
  EXPECT_EQ(asked_, "");
}

TEST_F(BatchJobTest, AClockThatIsAnHourBehindDoesNotLengthenTheJob) {
  variables_["SLURM_JOB_ID"] = "17";
  Set("SLURM_JOB_END_TIME", now_ + absl::Hours(1) + absl::Minutes(30));
  Set("SLURM_JOB_START_TIME", now_ + absl::Hours(1));
  EXPECT_EQ(TimeLeft().value(), absl::Minutes(30));
}

TEST_F(BatchJobTest, WithoutAnEndThatMakesSenseSlurmIsAsked) {
  variables_["SLURM_JOB_ID"] = "17";
  answer_ = "1-02:03:04\n";
  EXPECT_EQ(TimeLeft().value(), absl::Hours(26) + absl::Minutes(3) + absl::Seconds(4));
  EXPECT_EQ(asked_, "17");
  Set("SLURM_JOB_END_TIME", now_ - absl::Hours(1));  // the clock is wrong
  answer_ = "UNLIMITED";
  EXPECT_EQ(TimeLeft().value(), std::nullopt);
}

TEST_F(BatchJobTest, WhereNobodyKnowsItSaysWhatToDo) {
  variables_["SLURM_JOB_ID"] = "17";
  EXPECT_THAT(
      std::string(TimeLeft().status().message()),
      testing::AllOf(HasSubstr("job 17"), HasSubstr("not on PATH"), HasSubstr("--lifetime")));
}

TEST_F(BatchJobTest, TimesOfSqueueAreReadAndNothingElse) {
  EXPECT_EQ(ParseSlurmTimeLeft("0:00").value(), absl::ZeroDuration());
  EXPECT_EQ(ParseSlurmTimeLeft("59:59").value(), absl::Seconds(3599));
  EXPECT_EQ(ParseSlurmTimeLeft("2:00:01").value(), absl::Seconds(7201));
  for (const char* bad :
       {"", "INVALID", "NOT_SET", "1-2:3", "-5", "1:2:3:4", "9999999999", "1:-2", ":"}) {
    EXPECT_FALSE(ParseSlurmTimeLeft(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace ksearch

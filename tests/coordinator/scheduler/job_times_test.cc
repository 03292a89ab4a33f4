#include "coordinator/scheduler/job_times.h"

#include "common/textproto.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

v1::JobSpec SpecOf(const std::string& task, v1::JobKind kind) {
  v1::JobSpec spec;
  spec.set_task_sha256(task);
  spec.set_kind(kind);
  return spec;
}

v1::JobResult Took(absl::Duration total) {
  v1::JobResult result;
  *result.mutable_stage_times()->mutable_total() = ToProto(total);
  return result;
}

TEST(JobTimesTest, TheLongestOfTheLastEightOfTheSameTaskAndKindIsExpected) {
  JobTimes times(absl::Minutes(2));
  const v1::JobSpec screen = SpecOf("a", v1::JOB_KIND_SCREEN);
  EXPECT_EQ(times.Expected(screen), absl::Minutes(2));
  times.Note(screen, Took(absl::Seconds(40)));
  for (int i = 0; i < 7; ++i) times.Note(screen, Took(absl::Seconds(5)));
  EXPECT_EQ(times.Expected(screen), absl::Seconds(40));
  times.Note(screen, Took(absl::Seconds(6)));
  EXPECT_EQ(times.Expected(screen), absl::Seconds(6));
  EXPECT_EQ(times.Expected(SpecOf("a", v1::JOB_KIND_CONFIRM)), absl::Minutes(2));
  EXPECT_EQ(times.Expected(SpecOf("b", v1::JOB_KIND_SCREEN)), absl::Minutes(2));
}

TEST(JobTimesTest, AResultWithoutATimeSaysNothing) {
  JobTimes times(absl::Minutes(2));
  const v1::JobSpec screen = SpecOf("a", v1::JOB_KIND_SCREEN);
  times.Note(screen, v1::JobResult());
  EXPECT_EQ(times.Expected(screen), absl::Minutes(2));
}

}  // namespace
}  // namespace ksearch

#include "coordinator/engine/trial.h"

#include <string>

#include "common/identity.h"
#include "coordinator/engine/job_specs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

v1::RunConfig Config(const std::string& experiment, const std::string& arm, uint64_t seed) {
  v1::RunConfig config;
  config.set_task("t");
  config.set_seed(seed);
  config.mutable_trial()->set_experiment(experiment);
  config.mutable_trial()->set_arm(arm);
  config.mutable_trial()->set_seed(seed);
  return config;
}

std::string JobOf(const v1::RunConfig& config) {
  v1::Task task;
  task.set_name("t");
  v1::Sources sources;
  sources.add_files()->set_content("x");
  return JobId(JobSpecs(task, {}, {}, TrialSalt(config)).Screen(sources));
}

TEST(TrialTest, NoTwoRunsOfAnExperimentShareAJob) {
  const std::string job = JobOf(Config("e", "a", 1));
  EXPECT_EQ(job, JobOf(Config("e", "a", 1)));
  EXPECT_NE(job, JobOf(Config("e", "a", 2)));
  EXPECT_NE(job, JobOf(Config("e", "b", 1)));
  EXPECT_NE(job, JobOf(Config("f", "a", 1)));
  EXPECT_NE(job, JobOf(v1::RunConfig()));
  // A run outside an experiment shares its jobs as usual.
  EXPECT_EQ(TrialSalt(v1::RunConfig()), "");
}

TEST(TrialTest, FaultsNameTheirFields) {
  EXPECT_TRUE(CheckTrial(v1::RunConfig()).ok());
  EXPECT_TRUE(CheckTrial(Config("e.1", "arm_2-x", 3)).ok());
  const auto fault = [](const v1::RunConfig& config) {
    return std::string(CheckTrial(config).message());
  };
  EXPECT_THAT(fault(Config("", "a", 1)), StartsWith("trial.experiment is ''"));
  EXPECT_THAT(fault(Config("a/b", "a", 1)), StartsWith("trial.experiment is 'a/b'"));
  EXPECT_THAT(fault(Config("e", "-a", 1)), StartsWith("trial.arm is '-a'"));
  EXPECT_THAT(fault(Config("e", std::string(65, 'a'), 1)), StartsWith("trial.arm is "));
  v1::RunConfig other = Config("e", "a", 1);
  other.set_seed(2);
  EXPECT_THAT(fault(other), HasSubstr("trial.seed is 1, must be the run's seed, which is 2"));
}

TEST(TrialTest, RunIdsFollowFromTheRequestInAnExperimentAlone) {
  const v1::RunConfig config = Config("e", "a", 1);
  EXPECT_EQ(NewRunId(config, "r1"), NewRunId(config, "r1"));
  EXPECT_NE(NewRunId(config, "r1"), NewRunId(config, "r2"));
  EXPECT_THAT(NewRunId(config, "r1"), StartsWith("t-"));
  v1::RunConfig plain;
  plain.set_task("t");
  EXPECT_NE(NewRunId(plain, "r1"), NewRunId(plain, "r1"));
}

}  // namespace
}  // namespace ksearch

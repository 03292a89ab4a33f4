#include "autoscaler/fleet/slurm_fleet.h"

#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/autoscaler/program_folder.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

class SlurmFleetTest : public ::testing::Test {
 protected:
  SlurmFleetTest() {
    pool_.set_name("h200");
    pool_.set_most(8);
    pool_.set_coordinator_for_workers("login1:7400");
    *pool_.mutable_cool_down() = ToProto(absl::Minutes(5));
    *pool_.mutable_leave_grace() = ToProto(absl::Seconds(60));
    pool_.mutable_slurm()->set_work_dir("/shared/logs");
  }
  std::unique_ptr<FleetProvider> Make() { return SlurmFleet::Create(pool_).value(); }

  v1::WorkerPool pool_;
  ProgramFolder folder_;
};

TEST_F(SlurmFleetTest, TheScriptAsksForWhatTheConfigSaysAndQuotesIt) {
  v1::SlurmFleet* slurm = pool_.mutable_slurm();
  slurm->set_partition("gpu");
  slurm->set_account("kernels");
  slurm->set_gres("gpu:h200:1");
  slurm->set_memory_mib(32768);
  *slurm->mutable_time_limit() = ToProto(absl::Hours(26));
  slurm->add_sbatch_args("--constraint=hopper");
  slurm->add_setup_lines("module load cuda/13.0");
  slurm->add_worker_args("--config");
  slurm->add_worker_args("it's $HOME/worker.textproto");
  const auto fleet = SlurmFleet::Create(pool_).value();
  EXPECT_EQ(static_cast<SlurmFleet*>(fleet.get())->Script(3),
            "#!/bin/bash\n"
            "#SBATCH --job-name=ksearch-h200\n"
            "#SBATCH --array=0-2%8\n"
            "#SBATCH --partition=gpu\n"
            "#SBATCH --account=kernels\n"
            "#SBATCH --nodes=1\n"
            "#SBATCH --ntasks=1\n"
            "#SBATCH --cpus-per-task=8\n"
            "#SBATCH --gres=gpu:h200:1\n"
            "#SBATCH --mem=32768M\n"
            "#SBATCH --time=1-02:00:00\n"
            "#SBATCH --signal=B:USR1@90\n"
            "#SBATCH --requeue\n"
            "#SBATCH --open-mode=append\n"
            "#SBATCH --output=/shared/logs/ksearch-h200-%A_%a.log\n"
            "#SBATCH --constraint=hopper\n"
            "set -u\n"
            "module load cuda/13.0\n"
            "export KSEARCH_POOL='h200'\n"
            "export KSEARCH_INSTANCE=\"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\"\n"
            "# The worker takes the place of this shell, which is what Slurm sends USR1 to.\n"
            "exec 'ksearch-worker' --coordinator 'login1:7400' \\\n"
            "  --state-dir \"${TMPDIR:-/tmp}/ksearch-${SLURM_JOB_ID}\" --idle-timeout 5m "
            "--leave-grace 1m \\\n"
            "  '--config' \\\n"
            "  'it'\\''s $HOME/worker.textproto'\n");
  EXPECT_THAT(fleet->Plan(), HasSubstr("#SBATCH --array=0-7%8\n"));
}

TEST_F(SlurmFleetTest, WhatWouldBreakADirectiveIsRefused) {
  const auto fault = [this] { return std::string(SlurmFleet::Create(pool_).status().message()); };
  pool_.mutable_slurm()->set_partition("gpu\n#SBATCH --wrap=x");
  EXPECT_THAT(fault(), HasSubstr("slurm.partition"));
  pool_.mutable_slurm()->set_partition("");
  pool_.mutable_slurm()->add_sbatch_args("x.sh");
  EXPECT_EQ(fault(),
            "slurm.sbatch_args: 'x.sh' is not an option; options start with '-', such as "
            "--constraint=hopper");
  pool_.mutable_slurm()->clear_sbatch_args();
  *pool_.mutable_slurm()->mutable_time_limit() = ToProto(absl::Seconds(10));
  EXPECT_THAT(fault(), HasSubstr("slurm.time_limit"));
}

TEST_F(SlurmFleetTest, TheQueueIsReadByItsStatesAndReasons) {
  const auto fleet = SlurmFleet::ParseQueue(
      "  17_0 R None\n17_1 PD Resources\n17_2 PD (QOSMaxJobsPerUserLimit)\n17_3 CG None\n"
      "17_4 PD launch failed requeued held\n18_0 CF None\n");
  ASSERT_TRUE(fleet.ok()) << fleet.status();
  ASSERT_EQ(fleet->instances.size(), 5u);
  EXPECT_EQ(fleet->instances[0].id, "17_0");
  EXPECT_EQ(fleet->instances[0].state, Instance::State::kRunning);
  EXPECT_EQ(fleet->instances[0].note, "");
  EXPECT_EQ(fleet->instances[1].state, Instance::State::kPending);
  EXPECT_EQ(fleet->instances[1].note, "Resources");
  EXPECT_EQ(fleet->instances[2].state, Instance::State::kPending);
  EXPECT_EQ(fleet->instances[3].state, Instance::State::kFailed);
  EXPECT_EQ(fleet->instances[4].state, Instance::State::kRunning);
  EXPECT_TRUE(SlurmFleet::ParseQueue("")->instances.empty());
  EXPECT_FALSE(SlurmFleet::ParseQueue("slurm_load_jobs error: timeout\n").ok());
}

TEST_F(SlurmFleetTest, SbatchGetsTheScriptAndWhatItRefusesIsSaid) {
  pool_.mutable_slurm()->set_sbatch(folder_.Write("sbatch", "cat >$F/script; echo 17\n"));
  ASSERT_TRUE(Make()->Start(2).ok());
  EXPECT_THAT(folder_.Read("script"), HasSubstr("#SBATCH --array=0-1%8\n"));
  folder_.Write("sbatch",
                "echo 'sbatch: error: Batch job submission failed: Invalid account or "
                "account/partition combination specified' >&2; exit 1\n");
  EXPECT_THAT(std::string(Make()->Start(2).message()), HasSubstr("Invalid account"));
}

TEST_F(SlurmFleetTest, StopTellsRunningJobsAndOneThatHasEndedIsNoError) {
  pool_.mutable_slurm()->set_scancel(folder_.Write("scancel", "echo \"$@\" >>$F/log\n"));
  ASSERT_TRUE(Make()->Stop("17_1", FleetProvider::Manner::kGently).ok());
  ASSERT_TRUE(Make()->Stop("17_1", FleetProvider::Manner::kAtOnce).ok());
  EXPECT_EQ(folder_.Read("log"),
            "--state=PENDING 17_1\n--state=RUNNING --batch --signal=USR1 17_1\n17_1\n");
  folder_.Write("scancel",
                "echo 'scancel: error: Kill job error on job id 17_1: Job/step already completing "
                "or completed' >&2; exit 1\n");
  pool_.mutable_slurm()->set_squeue(folder_.Write("squeue", "echo '17_0 R None'\n"));
  EXPECT_TRUE(Make()->Stop("17_1", FleetProvider::Manner::kAtOnce).ok());
  const absl::Status status = Make()->Stop("17_0", FleetProvider::Manner::kAtOnce);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Kill job error"));
}

}  // namespace
}  // namespace ksearch

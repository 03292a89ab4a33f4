// The autoscaler and workers under a real Slurm, which is started for the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/rng.h"
#include "proto/search_service.pb.h"
#include "tests/autoscaler/slurm_cluster.h"
#include "tests/fakes/database_rows.h"
#include "tests/fakes/eventually.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The longest time between seeing a worker work and preempting it.
constexpr absl::Duration kLongestDelay = absl::Milliseconds(1500);

// The number of preemptions in the search: a few, or KSEARCH_PREEMPTIONS.
int PreemptionsWanted() {
  const char* const text = std::getenv("KSEARCH_PREEMPTIONS");
  int count = 4;
  if (text != nullptr) CHECK(absl::SimpleAtoi(text, &count));
  return count;
}

// Processes that run `program`, and the sandboxes around it: their command lines name it too.
std::vector<pid_t> ProcessesOf(const std::string& program) {
  std::vector<pid_t> pids;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    const std::string command(std::istreambuf_iterator<char>(file), {});
    if (absl::StartsWith(command, program)) pids.push_back(pid);
  }
  return pids;
}

class SlurmTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = SlurmCluster::WhyNot(); !why.empty()) GTEST_SKIP() << why;
    slurm_ = std::make_unique<SlurmCluster>(cluster_.folder() + "/slurm");
    const absl::Status ready = slurm_->AwaitReady();
    ASSERT_TRUE(ready.ok()) << ready;
    cluster_.UseOwnDevice();
    cluster_.StartModelServer(
        LocalCluster::SourcePath("tests/integration/data/softmax.cassette.textproto"));
    cluster_.StartCoordinator("scheduler { default_job_time { seconds: 1 } }");
    cluster_.SetEnvironment("SLURM_CONF", slurm_->config());
    cluster_.SetEnvironment("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
  }
  // `time_limit`: in seconds; Slurm counts in minutes.
  void StartAutoscaler(int time_limit, const std::string& more = "") {
    // An earlier Slurm's jobs had the same numbers, by which workers find their state.
    std::filesystem::create_directory(nodes_);
    const std::string config = cluster_.folder() + "/autoscaler.textproto";
    std::ofstream(config) << absl::StrCat(
        "look_every { nanos: 500000000 } state_file: \"", cluster_.folder(),
        "/autoscaler.state\" pools { name: \"slurm\" most: 1 cool_down { seconds: 5 } leave_grace "
        "{ "
        "nanos: 300000000 } back_off { seconds: 1 } slurm { cpus: 1 gres: \"gpu:fake:1\" "
        "time_limit "
        "{ seconds: ",
        time_limit, " } work_dir: \"", cluster_.folder(), "\" worker_command: \"",
        cluster_.BinaryPath("ksearch-worker"), "\" worker_args: \"--config\" worker_args: \"",
        cluster_.worker_config(), "\" setup_lines: \"export TMPDIR=", nodes_, "\" ", more, " } }");
    cluster_.Start("autoscaler", {cluster_.BinaryPath("ksearch-autoscaler"), "--config", config,
                                  "--coordinator", cluster_.address()});
  }
  CommandOutput Eval() {
    return cluster_.Cli(
        {"eval", "--task", "softmax_rows_f32", "--json", "--repeat", "--wait-for-workers", "5m",
         LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp")},
        absl::Minutes(8));
  }
  // Returns true if a worker is building or running a job.
  bool HasWork() {
    const auto jobs = FromJson<v1::ListJobsReply>(cluster_.Cli({"jobs", "--json"}).out);
    return std::any_of(jobs.jobs().begin(), jobs.jobs().end(), [](const v1::JobSummary& job) {
      return job.state() == v1::JobSummary::LEASED && job.stage() > v1::HeldLease::QUEUED;
    });
  }
  // Slurm ends the worker with SIGTERM, queues its job again, and starts it. False: it had none.
  bool Preempt() {
    const std::vector<std::string> running = slurm_->Queue("%i %t");
    if (running.size() != 1 || !absl::EndsWith(running[0], " R")) return false;
    const std::string job = running[0].substr(0, running[0].find(' '));
    if (slurm_->Run({"scontrol", "requeue", job}).exit.code != 0) return false;
    const auto state = [&] { return absl::StrJoin(slurm_->Queue("%t"), " "); };
    std::string seen;
    const auto requeued_or_gone = [&] { return (seen = state()) == "PD" || seen.empty(); };
    // The job is gone: its worker had just ended.
    if (!Eventually(requeued_or_gone, absl::Seconds(60)) || seen.empty()) return false;
    // By default a requeued job waits for two minutes.
    return Eventually(
        [&] {
          if (state() == "R") return true;
          slurm_->Run({"scontrol", "update", "JobId=" + job, "StartTime=now"});
          return false;
        },
        absl::Seconds(60));
  }
  std::string Database() const { return cluster_.folder() + "/state/ksearch.db"; }
  void ExpectNoneLostOrDoubled() {
    const std::string database = Database();
    // None lost: every requested job has a result, and no result is that its workers were
    // lost.
    EXPECT_THAT(Rows(database,
                     "SELECT job_id FROM job_requests WHERE job_id NOT IN (SELECT job_id FROM "
                     "results WHERE outcome <> 'OUTCOME_WORKER_LOST')"),
                IsEmpty());
    // None doubled: one attempt of each brought the result, and the ledger counts each once.
    EXPECT_THAT(Rows(database,
                     "SELECT job_id FROM attempts WHERE ended = 'recorded' GROUP BY job_id HAVING "
                     "count(*) > 1"),
                IsEmpty());
    EXPECT_EQ(
        Rows(database, "SELECT sum(evaluations) FROM ledger WHERE scope = ''"),
        Rows(database,
             "SELECT count(DISTINCT run_id || job_id) FROM job_requests JOIN jobs USING "
             "(job_id) WHERE kind IN ('JOB_KIND_SCREEN', 'JOB_KIND_CONFIRM', 'JOB_KIND_CHECK')"));
  }
  std::string Logs() const {
    return absl::StrCat(cluster_.Log("autoscaler"), "\nqueue:\n",
                        absl::StrJoin(slurm_->Queue("%i %t %r"), "\n"));
  }

  LocalCluster cluster_;
  const std::string nodes_ = cluster_.folder() + "/nodes";  // what is of the nodes' disks
  std::unique_ptr<SlurmCluster> slurm_;
};

TEST_F(SlurmTest, DemandStartsAJobWithinSecondsAndTheNodeGoesBackWhenIdle) {
  StartAutoscaler(600);
  ASSERT_TRUE(Eventually(
      [&] {
        return FromJson<v1::DemandReply>(cluster_.Cli({"demand", "--json"}).out).pools_size() == 1;
      },
      absl::Seconds(60)));
  const absl::Time asked = absl::Now();
  CommandOutput eval;
  std::thread client([&] { eval = Eval(); });
  EXPECT_TRUE(Eventually([&] { return !slurm_->Queue("%i").empty(); }, absl::Seconds(60)));
  const absl::Duration started = absl::Now() - asked;
  client.join();
  ASSERT_EQ(eval.exit.code, 0) << eval.err << Logs();
  std::printf("a job was in Slurm's queue %s after the evaluation was asked for\n",
              absl::FormatDuration(absl::Trunc(started, absl::Milliseconds(10))).c_str());
  EXPECT_LT(started, absl::Seconds(20));  // 5 s on a machine that is not busy
  EXPECT_TRUE(Eventually([&] { return slurm_->Queue("%i").empty(); }, absl::Seconds(90))) << Logs();
  const absl::Status idle = slurm_->AwaitReady();
  EXPECT_TRUE(idle.ok()) << idle;
  EXPECT_EQ(
      FromJson<v1::DemandReply>(cluster_.Cli({"demand", "--json"}).out).pools(0).report().fault(),
      "");
}

TEST_F(SlurmTest, PreemptionsLoseAndDoubleNoEvaluationOfASearch) {
  const int wanted = PreemptionsWanted();
  StartAutoscaler(3600);
  // At a random instant of a job: building, waiting, measuring, or just done.
  const uint64_t seed = RandomUint64();
  Rng rng(seed);
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  int preempted = 0, searches = 0;
  for (; preempted < wanted && searches < wanted; ++searches) {
    // Programs are measured a little longer each time, so that no recorded result is reused.
    const std::string config = cluster_.folder() + "/run.textproto";
    std::ofstream(config)
        << "measure { max_time_per_workload { nanos: 40000000 } max_calls: " << 40 + searches
        << " launches: 4 blocks_per_launch: 2 min_block_time { nanos: 2000000 } }";
    CommandOutput search;
    std::atomic<bool> over = false;
    std::thread client([&] {
      search = cluster_.Cli({"run", "--task", "softmax_rows_f32", "--rounds", "6", "--stagnation",
                             "2", "--config", config, "--wait-for-workers", "5m"},
                            absl::Minutes(20));
      over = true;
    });
    while (preempted < wanted && !over) {
      if (!HasWork()) continue;
      absl::SleepFor(kLongestDelay * rng.NextDouble());
      if (!over && Preempt()) ++preempted;
    }
    client.join();
    // 7: no program was confirmed, which is a matter of times on this machine.
    ASSERT_TRUE(search.exit.code == 0 || search.exit.code == 7) << search.err << Logs();
  }
  EXPECT_EQ(preempted, wanted) << "in " << searches << " searches";
  const std::string database = Database();
  const std::vector<std::string> ended =
      Rows(database, "SELECT ended || ' ' || count(*) FROM attempts GROUP BY ended ORDER BY ended");
  std::printf("%d searches, %d preemptions; evaluations %s; attempts: %s\n", searches, preempted,
              Rows(database, "SELECT count(DISTINCT job_id) FROM job_requests")[0].c_str(),
              absl::StrJoin(ended, ", ").c_str());
  ExpectNoneLostOrDoubled();
  EXPECT_THAT(Rows(database, "SELECT job_id FROM attempts WHERE ended = 'lost'"), IsEmpty());
}

TEST_F(SlurmTest, AWorkerThatCannotStartOnItsNodeSaysWhyInTheFault) {
  // No node has this device: CUDA is missing, or the GPU is another.
  cluster_.AddToWorkerConfig("more_devices { device_class: DEVICE_CLASS_CUDA gpus: \"GPU-none\" }");
  StartAutoscaler(600);
  std::thread client([&] {
    cluster_.Cli({"eval", "--task", "softmax_rows_f32", "--wait-for-workers", "20s",
                  LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp")});
  });
  std::string seen;
  EXPECT_TRUE(Eventually(
      [&] {
        seen = cluster_.Cli({"workers"}).out;
        return seen.find("which ends with: ksearch-worker: more_devices[0]") != std::string::npos;
      },
      absl::Seconds(60)))
      << seen << Logs();
  EXPECT_THAT(seen, testing::ContainsRegex(
                        "pool slurm: .* ended before (its worker connected|it was seen)"));
  client.join();
  // After 0, 1, 3, 7 and 15 s at the most, plus what Slurm takes.
  const std::string log = cluster_.Log("autoscaler");
  int starts = 0;
  for (size_t at = 0; (at = log.find("msg=\"started\"", at)) != std::string::npos; ++at) ++starts;
  EXPECT_LE(starts, 6) << log;
}

TEST_F(SlurmTest, AtTheEndOfTheWalltimeAWorkerHasLeft) {
  cluster_.SetEnvironment("KSEARCH_LOG", "info");
  StartAutoscaler(60);
  const CommandOutput eval = Eval();
  ASSERT_EQ(eval.exit.code, 0) << eval.err << Logs();
  const std::vector<std::string> jobs = slurm_->Queue("%i");
  if (jobs.empty()) GTEST_SKIP() << "the machine is so busy that the job is over";
  const auto workers = FromJson<v1::ListWorkersReply>(cluster_.Cli({"workers", "--json"}).out);
  ASSERT_FALSE(workers.workers().empty());
  EXPECT_TRUE(workers.workers(0).report().has_time_left());
  EXPECT_LT(workers.workers(0).report().time_left().seconds(), 60);
  EXPECT_EQ(workers.workers(0).hello().instance(), jobs[0]);
}

// A worker that hangs (its node swaps, its disk stalls) when the notice comes cannot return its
// job: Slurm kills it, together with the job, at the end of its minute.
TEST_F(SlurmTest, AWorkerKilledAtTheWalltimeWithWorkInHandLosesNoEvaluation) {
  StartAutoscaler(60);
  CommandOutput search;
  std::thread client([&] {
    search = cluster_.Cli({"run", "--task", "softmax_rows_f32", "--rounds", "6", "--stagnation",
                           "2", "--wait-for-workers", "5m", "--config",
                           LocalCluster::SourcePath("tests/integration/data/quick_run.textproto")},
                          absl::Minutes(9));
  });
  EXPECT_TRUE(Eventually([&] { return HasWork(); }, absl::Minutes(2))) << Logs();
  const std::vector<std::string> jobs = slurm_->Queue("%i");
  ASSERT_EQ(jobs.size(), 1u);
  const std::vector<pid_t> stopped = ProcessesOf(cluster_.BinaryPath("ksearch-worker"));
  EXPECT_FALSE(stopped.empty());
  // Repeatedly, since Slurm first sends SIGCONT.
  std::atomic<bool> over = false;
  std::thread stopper([&] {
    while (!over) {
      for (const pid_t pid : stopped) ::kill(pid, SIGSTOP);
      absl::SleepFor(absl::Milliseconds(1));
    }
  });
  const bool had_work = HasWork();
  // The autoscaler would kill the unresponsive worker a few seconds before Slurm does.
  const pid_t autoscaler = cluster_.Pid("autoscaler");
  ::kill(autoscaler, SIGSTOP);
  // By its time limit, not by anything that the autoscaler does.
  EXPECT_TRUE(Eventually(
      [&] {
        const std::string said = slurm_->Run({"scontrol", "show", "job", jobs[0]}).out;
        return absl::StrContains(said, "JobState=TIMEOUT") ||
               absl::StrContains(said, "Reason=TimeLimit");
      },
      absl::Minutes(4)))
      << slurm_->Run({"scontrol", "show", "job", jobs[0]}).out;
  over = true;
  stopper.join();
  ::kill(autoscaler, SIGCONT);
  client.join();
  // 7: no program was confirmed, which is a matter of times on this machine.
  ASSERT_TRUE(search.exit.code == 0 || search.exit.code == 7) << search.err << Logs();
  ExpectNoneLostOrDoubled();
  const std::vector<std::string> lost =
      Rows(Database(), "SELECT job_id FROM attempts WHERE ended = 'lost'");
  std::printf("killed at the walltime with %s; attempts lost %zu, evaluations %s\n",
              had_work ? "work in hand" : "nothing in hand", lost.size(),
              Rows(Database(), "SELECT count(DISTINCT job_id) FROM job_requests")[0].c_str());
  EXPECT_TRUE(had_work);
  EXPECT_THAT(lost, Not(IsEmpty()));
}

TEST_F(SlurmTest, WhatSbatchRefusesIsSaidAndNotRepeatedAllTheTime) {
  StartAutoscaler(600, "partition: \"nowhere\"");
  std::thread client([&] {
    cluster_.Cli({"eval", "--task", "softmax_rows_f32", "--wait-for-workers", "15s",
                  LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp")});
  });
  EXPECT_TRUE(Eventually(
      [&] {
        return cluster_.Cli({"demand"}).out.find("Invalid partition name specified") !=
               std::string::npos;
      },
      absl::Seconds(60)))
      << cluster_.Cli({"demand"}).out << Logs();
  client.join();
  const std::string log = cluster_.Log("autoscaler");
  int failures = 0;
  for (size_t at = 0; (at = log.find("pool in trouble", at)) != std::string::npos; ++at) ++failures;
  EXPECT_LE(failures, 6);
}

}  // namespace
}  // namespace ksearch

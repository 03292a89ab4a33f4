// Workers that leave while they have work, as preempted nodes do: real programs and real signals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class LeavingTest : public testing::Test {
 protected:
  LeavingTest() {
    cluster_.UseOwnDevice();
    cluster_.StartCoordinator();
  }
  // The worker that has the one job; "" if none gets it in time.
  std::string AwaitLease() {
    for (const absl::Time give_up = absl::Now() + absl::Seconds(60); absl::Now() < give_up;) {
      const auto jobs = FromJson<v1::ListJobsReply>(cluster_.Cli({"jobs", "--json"}).out);
      for (const v1::JobSummary& job : jobs.jobs()) {
        if (job.state() == v1::JobSummary::LEASED && job.stage() != v1::HeldLease::QUEUED) {
          return job.worker_id();
        }
      }
      absl::SleepFor(absl::Milliseconds(10));
    }
    return "";
  }
  // Has the baseline judged by the workers that there will be.
  std::thread Evaluate(CommandOutput* eval) {
    return std::thread([this, eval] {
      *eval = cluster_.Cli(
          {"eval", "--task", "softmax_rows_f32", "--json", "--wait-for-workers", "2m",
           LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp")},
          absl::Minutes(5));
    });
  }

  LocalCluster cluster_;
};

TEST_F(LeavingTest, PreemptedWorkersCostAnEvaluationNothing) {
  CommandOutput eval;
  std::thread client = Evaluate(&eval);
  // Three lost workers would end the job: these leave.
  constexpr int kPreemptions = 4;
  for (int i = 0; i < kPreemptions; ++i) {
    const std::string worker = absl::StrCat("spot", i);
    cluster_.StartWorker(worker, {"--leave-grace", "50ms"});
    EXPECT_NE(AwaitLease(), "");
    const int notice = i % 2 == 0 ? SIGUSR1 : SIGTERM;
    ASSERT_EQ(::kill(cluster_.Pid(worker), notice), 0);
    cluster_.WaitForEnd(worker);
    EXPECT_THAT(cluster_.Log(worker), HasSubstr("job given back"));
  }
  cluster_.StartWorker("stays");
  client.join();
  ASSERT_EQ(eval.exit.code, 0) << eval.err;
  const auto result = FromJson<v1::JobResult>(eval.out);
  EXPECT_EQ(result.outcome(), v1::OUTCOME_PASSED);
  EXPECT_EQ(result.attempt(), kPreemptions + 1);
  const auto results = FromJson<v1::ListResultsReply>(cluster_.Cli({"results", "--json"}).out);
  int screened = 0;
  for (const v1::ResultSummary& one : results.results())
    screened += one.job_id() == result.job_id();
  EXPECT_EQ(screened, 1);
}

TEST_F(LeavingTest, IdleWorkerLeavesAndOneOfAPoolIsRetiredAtOnce) {
  cluster_.SetEnvironment("KSEARCH_POOL", "spot");
  cluster_.SetEnvironment("KSEARCH_INSTANCE", "7_1");
  cluster_.StartWorker("idle", {"--idle-timeout", "10s"});
  const auto here = FromJson<v1::ListWorkersReply>(cluster_.Cli({"workers", "--json"}).out);
  ASSERT_EQ(here.workers_size(), 1);
  EXPECT_EQ(here.workers(0).hello().pool(), "spot");
  EXPECT_EQ(here.workers(0).hello().instance(), "7_1");
  cluster_.WaitForEnd("idle");
  EXPECT_THAT(cluster_.Log("idle"), HasSubstr("it had no job for 10s"));
  EXPECT_TRUE(Eventually([&] {
    return FromJson<v1::ListWorkersReply>(cluster_.Cli({"workers", "--json"}).out)
        .workers()
        .empty();
  }));
  EXPECT_THAT(cluster_.Cli({"workers", "--gone"}).out, HasSubstr("retired"));
}

TEST_F(LeavingTest, AWorkerWithLittleTimeGetsNoJobAndTheDemandSaysWhy) {
  cluster_.StartWorker("short", {"--lifetime", "100s", "--leave-grace", "1s"});
  CommandOutput eval;
  std::thread client = Evaluate(&eval);
  std::string waiting;
  for (int i = 0; i < 600 && waiting.empty(); ++i) {
    const auto demand = FromJson<v1::DemandReply>(cluster_.Cli({"demand", "--json"}).out);
    for (const v1::Demand& one : demand.demands()) {
      if (one.waiting_callers() > 0) waiting = cluster_.Cli({"demand"}).out;
    }
    absl::SleepFor(absl::Milliseconds(50));
  }
  EXPECT_THAT(waiting, HasSubstr("cpp")) << cluster_.Log("coordinator");
  cluster_.StartWorker("long");
  client.join();
  EXPECT_EQ(eval.exit.code, 0) << eval.err;
  EXPECT_THAT(cluster_.Log("short"), testing::Not(HasSubstr("job accepted")));
}

}  // namespace
}  // namespace ksearch

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "common/textproto.h"
#include "coordinator/views/candidate_view.h"
#include "coordinator/views/fleet_view.h"
#include "coordinator/views/run_view.h"
#include "coordinator/views/solution_view.h"
#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FakeFleet final : public FleetFacts {
 public:
  std::vector<v1::WorkerStatus> Workers() const override { return workers; }
  // One device of each model.
  std::vector<v1::Platform> PlatformsFor(const v1::JobSpec& spec) const override {
    std::vector<v1::Platform> platforms;
    for (const std::string& model : models) {
      if (!spec.platform().device_model().empty() && spec.platform().device_model() != model) {
        continue;
      }
      platforms.emplace_back().set_device_model(model);
    }
    return platforms;
  }

  std::vector<v1::WorkerStatus> workers;
  std::vector<std::string> models;
};

class ViewsTest : public testing::Test {
 protected:
  ViewsTest() {
    RunRow row;
    row.run_id = "run";
    row.status.set_run_id("run");
    row.status.set_task("axpy");
    EXPECT_TRUE(store_.CreateRun(row).ok());
    step_.run_id = "run";
    step_.status = row.status;
    step_.status.set_state(v1::RUN_STATE_RUNNING);
  }

  FakeStore store_;
  FakeFleet fleet_;
  StepCommit step_;
};

class TwoSolutions final : public TaskSuite {
 public:
  std::vector<v1::TaskSummary> List() const override { return {}; }
  absl::StatusOr<v1::Task> Load(const std::string& name) const override {
    return absl::NotFoundError(name);
  }
  absl::StatusOr<std::vector<v1::SolutionSummary>> Solutions(
      const std::string& name) const override {
    std::vector<v1::SolutionSummary> solutions(name == "norm" ? 2 : 0);
    if (!solutions.empty()) solutions[1].add_packages("tvm-ffi");
    return solutions;
  }
};

TEST_F(ViewsTest, SolutionsSayWhatNoConnectedWorkerHas) {
  const auto missing = [&] {
    const auto reply = ViewSolutions(TwoSolutions(), fleet_, "norm");
    EXPECT_EQ(reply->solutions(0).missing_size(), 0);
    return reply->solutions(1).missing_size();
  };
  EXPECT_EQ(missing(), 0);  // nobody is there who could lack it
  v1::WorkerStatus& worker = fleet_.workers.emplace_back();
  worker.set_connected(true);
  v1::LanguageToolkit& toolkit = *worker.mutable_hello()->add_devices()->add_toolkits();
  toolkit.set_toolkit("python 3.11.2, torch 2.9.0, my-tvm-ffi 0.1");
  EXPECT_EQ(missing(), 1);
  v1::WorkerStatus& other = fleet_.workers.emplace_back(worker);
  other.mutable_hello()->mutable_devices(0)->mutable_toolkits(0)->set_toolkit(
      "python 3.11.2, torch 2.9.0, tvm-ffi 0.1.15");
  EXPECT_EQ(missing(), 0);
  other.set_connected(false);
  EXPECT_EQ(missing(), 1);
  EXPECT_TRUE(absl::IsNotFound(ViewSolutions(TwoSolutions(), fleet_, "nosuch").status()));
}

TEST_F(ViewsTest, RunSaysWhatItsPlatformLacksWhileItGoesOn) {
  step_.status.mutable_platform()->set_device_model("NVIDIA H200");
  ASSERT_TRUE(store_.CommitStep(step_).ok());
  EXPECT_EQ(ViewRun(store_, fleet_, "run")->platform_missing(), "no connected worker has it");
  fleet_.models = {"NVIDIA H100"};
  EXPECT_THAT(ViewRun(store_, fleet_, "run")->platform_missing(), HasSubstr("NVIDIA H100"));
  fleet_.models = {"NVIDIA H200"};
  EXPECT_EQ(ViewRun(store_, fleet_, "run")->platform_missing(), "");
  fleet_.models.clear();
  step_.status.set_state(v1::RUN_STATE_FINISHED);
  ASSERT_TRUE(store_.CommitStep(step_).ok());
  EXPECT_EQ(ViewRun(store_, fleet_, "run")->platform_missing(), "");
  EXPECT_EQ(store_.run_reads(), 0) << "no state is read";
}

TEST_F(ViewsTest, BestIsNotFoundUntilOneIsConfirmed) {
  EXPECT_EQ(ViewBest(store_, "nothing").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ViewBest(store_, "run").status().code(), absl::StatusCode::kNotFound);
  step_.status.mutable_best()->set_candidate_id("c1");
  CandidateRow& candidate = step_.candidates.emplace_back();
  candidate.candidate_id = "c1";
  candidate.sources.add_files()->set_content("text");
  ASSERT_TRUE(store_.CommitStep(step_).ok());
  const auto best = ViewBest(store_, "ru");
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_EQ(best->run_id(), "run");
  EXPECT_EQ(best->task(), "axpy");
  EXPECT_EQ(best->sources().files(0).content(), "text");
}

TEST_F(ViewsTest, WorkersOfThisLifeStandAmongThoseOfEarlierOnes) {
  for (const char* id : {"gone", "here"}) {
    v1::WorkerHello hello;
    hello.set_worker_id(id);
    ASSERT_TRUE(store_.UpsertWorker(hello, "", absl::Now()).ok());
  }
  fleet_.workers.emplace_back().set_worker_id("here");
  fleet_.workers.back().set_connected(true);
  const auto reply = ViewWorkers(store_, fleet_);
  ASSERT_TRUE(reply.ok()) << reply.status();
  std::vector<std::string> ids;
  for (const v1::WorkerStatus& worker : reply->workers()) ids.push_back(worker.worker_id());
  EXPECT_THAT(ids, ElementsAre("gone", "here"));
  EXPECT_TRUE(reply->workers(1).connected());
}

TEST_F(ViewsTest, PagesOfWorkersHoldEachOneOnceWhateverComesAndGoesMeanwhile) {
  for (const char* id : {"a", "b", "c", "d", "e"}) fleet_.workers.emplace_back().set_worker_id(id);
  EXPECT_EQ(ViewWorkers(store_, fleet_)->next_page_token(), "");
  std::vector<std::string> ids;
  WorkerPage page = {.size = 2, .token = ""};
  int pages = 0;
  do {
    const auto reply = ViewWorkers(store_, fleet_, {}, page);
    ASSERT_TRUE(reply.ok()) << reply.status();
    for (const v1::WorkerStatus& worker : reply->workers()) ids.push_back(worker.worker_id());
    page.token = reply->next_page_token();
    // The last one of the first page goes, one comes before it and one after.
    if (++pages == 1) {
      fleet_.workers.erase(fleet_.workers.begin() + 1);
      fleet_.workers.emplace_back().set_worker_id("a1");
      fleet_.workers.emplace_back().set_worker_id("f");
    }
  } while (!page.token.empty());
  EXPECT_THAT(ids, ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_EQ(pages, 3);
  EXPECT_TRUE(
      absl::IsInvalidArgument(ViewWorkers(store_, fleet_, {}, {.size = -1, .token = ""}).status()));
}

TEST_F(ViewsTest, RetiredWorkersAreListedOnlyForThoseWhoAsk) {
  const absl::Time now = absl::Now();
  const auto seen = [&](const char* id, absl::Duration ago) {
    v1::WorkerHello hello;
    hello.set_worker_id(id);
    ASSERT_TRUE(store_.UpsertWorker(hello, "", now - ago).ok());
  };
  seen("long_gone", absl::Hours(2));
  seen("just_gone", absl::Minutes(5));
  seen("connected", absl::Hours(3));
  seen("went_home", absl::Minutes(1));
  fleet_.workers.emplace_back().set_worker_id("connected");
  fleet_.workers.back().set_connected(true);
  v1::WorkerStatus& home = fleet_.workers.emplace_back();
  home.set_worker_id("went_home");
  home.mutable_hello()->set_pool("slurm");
  home.mutable_report()->set_draining(true);
  *home.mutable_last_report_at() = ToProto(now - absl::Minutes(1));
  Retirement retirement = {.now = now, .after = absl::Hours(1)};
  const auto ids = [&] {
    std::vector<std::string> found;
    const auto reply = ViewWorkers(store_, fleet_, retirement);
    for (const v1::WorkerStatus& worker : reply->workers()) {
      found.push_back(worker.worker_id() + (worker.retired() ? " (retired)" : ""));
    }
    return found;
  };
  EXPECT_THAT(ids(), ElementsAre("connected", "just_gone"));
  retirement.listed = true;
  EXPECT_THAT(ids(), testing::UnorderedElementsAre("connected", "just_gone", "long_gone (retired)",
                                                   "went_home (retired)"));
}

TEST(CandidatePacket, PutsScreeningAndProfileTogether) {
  v1::JobResult screening, confirmation, profiled;
  screening.mutable_build()->add_kernels()->set_name("decode");
  confirmation.add_comparisons();
  profiled.mutable_profile()->set_workload_uuid("w");
  v1::KernelProfile* kernel = profiled.mutable_profile()->add_kernels();
  kernel->set_name("decode");
  kernel->set_registers(40);
  v1::JobResult parent_profiled = profiled;
  parent_profiled.mutable_profile()->mutable_kernels(0)->set_registers(80);
  const std::string packet =
      CandidatePacket(nullptr, {screening, confirmation, profiled}, {screening, parent_profiled});
  EXPECT_THAT(packet, HasSubstr("40 registers a thread, no spills"));
  EXPECT_THAT(packet, HasSubstr("registers 80 -> 40"));
  EXPECT_EQ(CandidatePacket(nullptr, {}, {}), "");
}

}  // namespace
}  // namespace ksearch

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

SearchContext BaselineContext(bool paper = false) {
  SearchContext context = TestContext(paper, 2);
  context.task.add_baselines()->set_language(context.config.language());
  context.config.mutable_world_model()->set_time_baseline_first(true);
  return context;
}

std::string Reply(const AskModel& ask) {
  if (ask.role == "code") return absl::StrCat("program ", ask.call_number, " score=2");
  return ask.labels.purpose == "init"
             ? "ops { insert { node_id: 'a' parent_id: 'root' node { title: 'a' score: 0.9 "
               "difficulty: 2 } } }"
             : "";
}

v1::JobResult Timed() {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  v1::WorkloadResult* workload = result.add_workloads();
  workload->set_workload_uuid("w");
  workload->mutable_baseline()->set_median_us(123);
  result.mutable_peaks()->set_memory_bytes_per_second(2e10);
  return result;
}

// A proposer whose prompts show the device and the baseline.
Proposer TellingProposer() {
  Proposer proposer = FakeProposer();
  proposer.world_model_prompt = [](const PromptFacts& facts, const WorldModelPromptContext&) {
    const auto baseline = facts.baseline_us.find("w");
    Prompt prompt;
    prompt.user =
        absl::StrCat("baseline=", baseline == facts.baseline_us.end() ? 0 : baseline->second,
                     " memory=", facts.peaks.memory_bytes_per_second());
    return prompt;
  };
  return proposer;
}

TEST(BaselineFirstTest, TheFirstQuestionWaitsForItAndShowsItsTimes) {
  WorldModelStrategy strategy(BaselineContext(), TellingProposer());
  const StepOutput start = strategy.Start();
  EXPECT_TRUE(start.times_baseline);
  EXPECT_THAT(start.asks, IsEmpty());
  const StepOutput next = strategy.OnBaseline({kBaselineTag, Timed()});
  ASSERT_THAT(next.asks, SizeIs(1));
  EXPECT_EQ(next.asks[0].labels.purpose, "init");
  EXPECT_EQ(next.asks[0].user, "baseline=123 memory=2e+10");
}

TEST(BaselineFirstTest, ASeedComesAfterIt) {
  SearchContext context = BaselineContext();
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content("seed score=0.6");
  SearchDriver driver(context, Reply);
  driver.baseline = Timed();
  driver.Start();
  EXPECT_THAT(driver.screened, IsEmpty());
  driver.Step();
  EXPECT_THAT(driver.screened, SizeIs(1));
  driver.Run();
  EXPECT_EQ(driver.baselines_timed, 1);
  EXPECT_EQ(driver.state().log().baseline_us().at("w"), 123) << "the first number stays";
}

TEST(BaselineFirstTest, WhateverBecomesOfItTheSearchGoesOn) {
  SearchDriver driver(BaselineContext(), Reply);
  driver.baseline.set_outcome(v1::OUTCOME_WORKER_LOST);
  driver.baseline.set_message("every worker was lost");
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.events.at(0).text(), HasSubstr("the baseline was not timed: worker_lost"));
  EXPECT_EQ(driver.state().rounds_done(), 2);
}

TEST(BaselineFirstTest, ItIsTimedOnlyWhereThereIsOneInTheRunsLanguageAndNeverInPresetPaper) {
  for (int other = 0; other < 3; ++other) {
    SCOPED_TRACE(other);
    SearchContext context = BaselineContext(/*paper=*/other == 0);
    if (other == 1) context.task.mutable_baselines(0)->set_language(v1::LANGUAGE_CUDA);
    if (other == 2) context.config.mutable_world_model()->clear_time_baseline_first();
    SearchDriver driver(context, Reply);
    driver.Start();
    EXPECT_EQ(driver.Calls().at(0), "init//1");
    driver.Run();
    EXPECT_EQ(driver.baselines_timed, 0);
  }
}

}  // namespace
}  // namespace ksearch

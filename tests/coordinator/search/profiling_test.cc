#include "coordinator/search/profiling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

SearchContext GpuContext(int rounds, int parallel = 1) {
  SearchContext context = TestContext(/*paper=*/false, rounds, parallel);
  context.task.set_device(v1::DEVICE_CLASS_CUDA);
  context.config.set_profile(v1::PROFILE_POLICY_AUTO);
  return context;
}

// Three intents; attempt n of node a, b or c is the program for "a/n", else a failing one.
SearchDriver::Reply Programs(std::map<std::string, std::string> programs) {
  return [programs = std::move(programs)](const AskModel& ask) -> std::string {
    if (ask.labels.purpose == "init") {
      std::string script;
      for (const char* id : {"a", "b", "c"}) {
        absl::StrAppend(&script, "ops { insert { node_id: '", id,
                        "' parent_id: 'root' node { title: '", id,
                        "' score: 0.9 difficulty: 2 } } }");
      }
      return script;
    }
    if (ask.labels.purpose == "refine") {
      return absl::StrCat("ops { insert { parent_id: '", ask.labels.node_id, "' node_id: '",
                          ask.labels.node_id,
                          "x' node { title: 'x' score: 0.99 difficulty: 2 } } }");
    }
    if (ask.role != "code") return "";
    const std::string key = absl::StrCat(ask.labels.node_id, "/", ask.labels.attempt);
    const auto program = programs.find(key);
    return program == programs.end() ? absl::StrCat(key, " call ", ask.call_number, " fail")
                                     : program->second;
  };
}

const AskModel* FindCall(const SearchDriver& driver, const std::string& purpose, int attempt) {
  for (const AskModel& ask : driver.asked) {
    if (ask.labels.purpose == purpose && ask.labels.attempt == attempt) return &ask;
  }
  return nullptr;
}

v1::JobResult WithDevice(const ScreenCandidate& candidate) {
  v1::JobResult result = FakeScreening(candidate.sources);
  result.mutable_device()->set_architecture("sm_90a");
  if (result.workloads_size() == 0) return result;
  v1::WorkloadResult* slow = result.add_workloads();
  *slow = result.workloads(0);
  result.mutable_workloads(0)->set_workload_uuid("quick");
  slow->set_workload_uuid("slow");
  slow->mutable_candidate()->set_median_us(5000);
  slow->mutable_baseline()->set_median_us(5000);
  return result;
}

TEST(ProfilingTest, TheNextPromptWaitsForTheProfileAndShowsIt) {
  SearchDriver driver(GpuContext(3), Programs({{"a/1", "a1 score=2"}}));
  driver.screen = WithDevice;
  driver.Start();
  while (driver.profiled.empty()) ASSERT_TRUE(driver.Step());
  EXPECT_EQ(FindCall(driver, "improve", 2), nullptr);
  EXPECT_EQ(driver.profiled[0].tag, "cycle/1/attempt/1/profile");
  EXPECT_EQ(driver.profiled[0].workload_uuid, "slow");
  EXPECT_EQ(driver.profiled[0].architecture, "sm_90a");
  EXPECT_EQ(driver.profiled[0].sources.files(0).content(), "a1 score=2");
  v1::RunStatus status;
  driver.strategy().Describe(&status);
  EXPECT_EQ(status.cycles(0).phase(), "profiling");
  EXPECT_EQ(status.rounds_done(), 0);
  driver.Run();
  const AskModel* improve = FindCall(driver, "improve", 2);
  ASSERT_NE(improve, nullptr);
  EXPECT_THAT(improve->user, HasSubstr("result=OUTCOME_PASSED profile=decode attempt=2"));
  EXPECT_EQ(driver.state().rounds_done(), 3) << "a profile is no round";
  EXPECT_EQ(driver.screened.size(), 3u);
}

TEST(ProfilingTest, RevisionsAndDeltasSeeProfilesToo) {
  SearchDriver driver(GpuContext(9), Programs({{"a/1", "a1 score=2"}}));
  driver.Start();
  driver.Run();
  const AskModel* refine = FindCall(driver, "refine", 1);
  ASSERT_NE(refine, nullptr);
  EXPECT_THAT(refine->user, HasSubstr("code=[a1 score=2] result=OUTCOME_PASSED profile=decode"));
  // Cycle 2 builds on a, whose result is available for comparison.
  const AskModel* debug = FindCall(driver, "debug", 2);
  ASSERT_NE(debug, nullptr);
  EXPECT_THAT(debug->user, HasSubstr("parent profile=decode"));
}

TEST(ProfilingTest, OnlyTheBestQuarterIsProfiledUnlessAllAreAskedFor) {
  std::map<std::string, std::string> programs;
  for (int i = 1; i <= 12; ++i) {
    // Alternates 10, 2, 3, 11, 4, 5, ...; never goes long enough without a new best to stagnate.
    const double score = i % 3 == 1 ? 10 + i : 1 + 0.1 * i;
    programs[absl::StrCat("a/", i)] = absl::StrCat("a", i, " score=", score);
  }
  SearchDriver driver(GpuContext(13), Programs(programs));
  driver.Start();
  driver.Run();
  ASSERT_THAT(driver.profiled, SizeIs(4)) << "1, 4, 7 and 10";
  EXPECT_EQ(driver.profiled[1].tag, "cycle/1/attempt/4/profile");

  SearchContext all = GpuContext(13);
  all.config.set_profile(v1::PROFILE_POLICY_ALL);
  SearchDriver thorough(all, Programs(programs));
  thorough.Start();
  thorough.Run();
  EXPECT_THAT(thorough.profiled, SizeIs(12));
}

TEST(ProfilingTest, NothingIsProfiledWithoutAGpuInPresetPaperOrIfNeverIsAskedFor) {
  for (int variant = 0; variant < 4; ++variant) {
    SCOPED_TRACE(variant);
    SearchContext context = GpuContext(4);
    if (variant == 0) context.task.set_device(v1::DEVICE_CLASS_CPU);
    if (variant == 1) context.config.mutable_world_model()->set_preset(v1::PRESET_PAPER);
    if (variant == 2) context.config.set_profile(v1::PROFILE_POLICY_NEVER);
    if (variant == 3) context.config.clear_profile();  // begun by an older program
    SearchDriver driver(context, Programs({{"a/1", "a1 score=2"}, {"b/1", "b1 score=3"}}));
    driver.Start();
    driver.Run();
    EXPECT_THAT(driver.profiled, IsEmpty());
  }
}

TEST(ProfilingTest, AFailedProfileIsANoteAndTheNextOneIsTried) {
  SearchDriver driver(GpuContext(4), Programs({{"a/1", "a1 score=2"}, {"a/2", "a2 score=3"}}));
  driver.profile = [](const ProfileCandidate&) {
    v1::JobResult result;
    result.set_outcome(v1::OUTCOME_TIMEOUT);
    result.set_message("ncu took longer than 120 s");
    return result;
  };
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.profiled, SizeIs(2));
  EXPECT_THAT(FindCall(driver, "improve", 2)->user,
              HasSubstr("profile=none:the candidate did not run under the profiler: timeout: ncu "
                        "took longer than 120 s attempt=2"));
  EXPECT_EQ(driver.state().log().passed(), 2);
  EXPECT_EQ(driver.CountEvents(v1::RunEvent::CANDIDATE_FAILED), 2) << "those that fail anyway";
}

TEST(ProfilingTest, AfterARefusalTheRunAsksNoMoreEvenInALaterLife) {
  SearchDriver driver(GpuContext(5), Programs({{"a/1", "a1 score=2"}, {"a/2", "a2 score=3"}}));
  driver.profile = [](const ProfileCandidate&) {
    v1::JobResult result;
    result.set_outcome(v1::OUTCOME_PASSED);
    result.mutable_profile()->set_absence(v1::Profile::NOT_PERMITTED);
    result.mutable_profile()->set_note("ERR_NVGPUCTRPERM");
    return result;
  };
  driver.restart_before_every_step = true;
  driver.Start();
  driver.Run();
  EXPECT_THAT(driver.profiled, SizeIs(1));
  EXPECT_EQ(driver.state().log().profiling_refused(), "ERR_NVGPUCTRPERM");
  int told = 0;
  for (const v1::RunEvent& event : driver.events) {
    told += absl::StrContains(event.text(), "ERR_NVGPUCTRPERM; not asked for again") ? 1 : 0;
  }
  EXPECT_EQ(told, 1);
}

TEST(ProfilingTest, OtherCyclesGoOnMeanwhile) {
  SearchDriver driver(GpuContext(20, /*parallel=*/2), Programs({{"a/1", "a1 score=2"}}));
  // Profiles come last: everything else is answered first.
  driver.pick = [](size_t) { return size_t{0}; };
  driver.Start();
  while (driver.profiled.empty()) ASSERT_TRUE(driver.Step());
  const size_t asked = driver.asked.size();
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(driver.Step());
  EXPECT_GE(driver.asked.size(), asked + 3) << "cycle 2 goes on";
  EXPECT_EQ(FindCall(driver, "improve", 2), nullptr);
  driver.Run();
  EXPECT_NE(FindCall(driver, "improve", 2), nullptr);
}

TEST(ProfilingTest, ASeedIsProfiledBeforeTheFirstModelIsAskedFor) {
  SearchContext context = GpuContext(2);
  context.config.add_seed_solution()->set_path("kernel.cpp");
  context.config.mutable_seed_solution(0)->set_content("seed score=1.5");
  SearchDriver driver(context, Programs({}));
  driver.restart_before_every_step = true;
  driver.Start();
  ASSERT_TRUE(driver.Step());
  ASSERT_THAT(driver.profiled, SizeIs(1));
  EXPECT_EQ(driver.profiled[0].tag, "seed/profile");
  EXPECT_THAT(driver.asked, IsEmpty());
  driver.Run();
  EXPECT_THAT(driver.asked[0].user, HasSubstr("code=[seed score=1.5] result=OUTCOME_PASSED "
                                              "profile=decode"));
}

TEST(ProfilingTest, OnlyTheKernelsThatPromptsShowAreKept) {
  EvaluationRules rules;
  rules.keeps_results = true;
  v1::EvaluationLogState state;
  v1::ScreenedProgram program;
  program.set_candidate_id("c");
  (*state.mutable_screened())["c"] = program;
  v1::JobResult result;
  for (int i = 0; i < 16; ++i) result.mutable_profile()->add_kernels()->set_name("k");
  EXPECT_THAT(TakeProfile(rules, result, &program, &state), HasSubstr("profiled: 16 kernel(s)"));
  EXPECT_EQ(program.result().profile().kernels_size(), 4);
  EXPECT_EQ(program.result().profile().other_kernels(), 12);
  EXPECT_EQ(state.screened().at("c").result().profile().kernels_size(), 4);
  EXPECT_THAT(state.profiling_refused(), IsEmpty());
}

}  // namespace
}  // namespace ksearch

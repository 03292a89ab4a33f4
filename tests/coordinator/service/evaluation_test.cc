#include "coordinator/service/evaluation.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/task_limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

v1::Sources Program(const std::string& text) {
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_CPP);
  v1::SourceFile* file = sources.add_files();
  file->set_path("kernel.cpp");
  file->set_content(text);
  return sources;
}

v1::Task SomeTask() {
  v1::Task task;
  task.set_name("t");
  task.set_device(v1::DEVICE_CLASS_CPU);
  *task.add_references() = Program("reference");
  task.add_workloads()->set_uuid("small");
  return task;
}

v1::EvaluateRequest Confirmation() {
  v1::EvaluateRequest request;
  request.set_task("t");
  request.set_kind(v1::JOB_KIND_CONFIRM);
  *request.mutable_sources() = Program("candidate");
  return request;
}

std::vector<v1::WorkerStatus> OneWorker() {
  v1::WorkerStatus worker;
  worker.set_connected(true);
  return {worker};
}

TEST(EvaluationJob, ComparesWithTheBaselineUnlessARivalIsGiven) {
  auto spec = EvaluationJob(SomeTask(), Confirmation());
  ASSERT_TRUE(spec.ok()) << spec.status();
  ASSERT_EQ(spec->rivals_size(), 1);
  EXPECT_EQ(spec->rivals(0).rival_id(), "baseline");

  v1::EvaluateRequest request = Confirmation();
  *request.mutable_rival() = Program("rival");
  spec = EvaluationJob(SomeTask(), request);
  ASSERT_TRUE(spec.ok()) << spec.status();
  ASSERT_EQ(spec->rivals_size(), 1);
  EXPECT_EQ(spec->rivals(0).rival_id(), "rival");
  EXPECT_EQ(spec->rivals(0).sources().files(0).content(), "rival");
}

TEST(EvaluationJob, HasTheDevicesNumberOfLaunchesUnlessOneIsGiven) {
  v1::Task task = SomeTask();
  task.set_device(v1::DEVICE_CLASS_CPU);
  EXPECT_EQ(EvaluationJob(task, Confirmation())->plan().launches(), 6);
  v1::EvaluateRequest request = Confirmation();
  task.set_device(v1::DEVICE_CLASS_CUDA);
  task.mutable_references(0)->set_language(v1::LANGUAGE_CUDA);
  request.mutable_sources()->set_language(v1::LANGUAGE_CUDA);
  EXPECT_EQ(EvaluationJob(task, request)->plan().launches(), 8);
  request.mutable_plan()->set_launches(12);
  EXPECT_EQ(EvaluationJob(task, request)->plan().launches(), 12);
}

TEST(EvaluationJob, ASaltMakesAnotherJobOfTheSameQuestionAndTheSameOneEachTime) {
  v1::EvaluateRequest request = Confirmation();
  const std::string plain = JobId(*EvaluationJob(SomeTask(), request));
  request.set_salt("e/arm/1/abc/1");
  const std::string salted = JobId(*EvaluationJob(SomeTask(), request));
  EXPECT_NE(salted, plain);
  EXPECT_EQ(JobId(*EvaluationJob(SomeTask(), request)), salted);
  request.set_salt("e/arm/1/abc/2");
  EXPECT_NE(JobId(*EvaluationJob(SomeTask(), request)), salted);
  request.set_salt("two words");
  EXPECT_THAT(EvaluationJob(SomeTask(), request).status().ToString(), HasSubstr("salt: must be"));
  request.set_salt(std::string(201, 'x'));
  EXPECT_THAT(EvaluationJob(SomeTask(), request).status().ToString(), HasSubstr("salt: must be"));
  request.set_salt("fine");
  request.set_repeat(true);
  EXPECT_THAT(EvaluationJob(SomeTask(), request).status().ToString(), HasSubstr("salt: `repeat`"));
}

TEST(EvaluationJob, RefusesARivalThatCannotBeComparedWith) {
  v1::EvaluateRequest request = Confirmation();
  *request.mutable_rival() = Program("rival");
  request.set_kind(v1::JOB_KIND_SCREEN);
  EXPECT_THAT(EvaluationJob(SomeTask(), request).status().ToString(), HasSubstr("rival: only"));

  request = Confirmation();
  request.mutable_rival()->set_language(v1::LANGUAGE_CPP);
  EXPECT_THAT(EvaluationJob(SomeTask(), request).status().ToString(),
              HasSubstr("rival.files is empty"));

  *request.mutable_rival() = Program("rival");
  request.mutable_rival()->set_language(v1::LANGUAGE_CUDA);
  EXPECT_THAT(EvaluationJob(SomeTask(), request).status().ToString(),
              HasSubstr("rival.language: cuda programs do not run on the device of task t, a CPU"));
}

TEST(EvaluationJob, MixesLanguagesOfOneDevice) {
  v1::Task task = SomeTask();
  task.set_device(v1::DEVICE_CLASS_CUDA);
  task.mutable_references(0)->set_language(v1::LANGUAGE_CUDA);
  *task.add_baselines() = task.references(0);
  v1::EvaluateRequest request = Confirmation();
  request.mutable_sources()->set_language(v1::LANGUAGE_PYTHON);
  *request.mutable_rival() = Program("rival");
  request.mutable_rival()->set_language(v1::LANGUAGE_CUDA);
  const auto spec = EvaluationJob(task, request);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->candidate().language(), v1::LANGUAGE_PYTHON);
  EXPECT_EQ(spec->rivals(0).sources().language(), v1::LANGUAGE_CUDA);
  EXPECT_EQ(spec->reference().language(), v1::LANGUAGE_CUDA);
  EXPECT_EQ(spec->reference().id(), CandidateId(task.references(0)));
  EXPECT_EQ(NoWorkerReason(*spec, OneWorker()),
            "no connected worker can judge python candidates and also run programs in cuda, such "
            "as the task's own");
  EXPECT_THAT(NoWorkerText(*spec, OneWorker()),
              HasSubstr(NoWorkerReason(*spec, OneWorker()) + "; `ksearch workers`"));
  // Whatever the job needs, there is nobody.
  std::vector<v1::WorkerStatus> gone = OneWorker();
  gone[0].set_connected(false);
  EXPECT_EQ(NoWorkerReason(*spec, gone), "no worker is connected");
  EXPECT_THAT(NoWorkerText(*spec, {}), StartsWith("no worker is connected; `ksearch workers`"));

  request.clear_rival();
  request.set_kind(v1::JOB_KIND_SCREEN);
  EXPECT_EQ(EvaluationJob(task, request)->baseline().id(), CandidateId(task.baselines(0)));
  request.set_kind(v1::JOB_KIND_CHECK);
  EXPECT_TRUE(EvaluationJob(task, request)->has_reference());
  EXPECT_FALSE(EvaluationJob(task, request)->has_baseline());
  request.set_kind(v1::JOB_KIND_BUILD);
  const auto build = EvaluationJob(task, request);
  ASSERT_TRUE(build.ok()) << build.status();
  EXPECT_FALSE(build->has_reference());
  EXPECT_FALSE(build->has_baseline());
  EXPECT_EQ(build->workload_uuids_size(), 0);
}

TEST(EvaluationJob, ProfilesOnlyWhatIsTimed) {
  v1::EvaluateRequest request = Confirmation();
  request.set_profile(true);
  EXPECT_TRUE(EvaluationJob(SomeTask(), request).ok());
  request.set_kind(v1::JOB_KIND_CHECK);
  EXPECT_THAT(std::string(EvaluationJob(SomeTask(), request).status().message()),
              HasSubstr("profile: only what is timed"));
  request.set_kind(v1::JOB_KIND_PROFILE);
  EXPECT_EQ(EvaluationJob(SomeTask(), request).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ProfileJob, TakesTheSlowestWorkloadOnTheDeviceOfTheScreening) {
  v1::Task task = SomeTask();
  task.set_device(v1::DEVICE_CLASS_CUDA);
  v1::EvaluateRequest request = Confirmation();
  v1::JobResult result;
  result.mutable_device()->set_architecture("sm_90a");
  for (const double us : {3.0, 7.0, 5.0}) {
    v1::WorkloadResult* workload = result.add_workloads();
    workload->set_workload_uuid(absl::StrCat("w", us));
    workload->mutable_candidate()->set_median_us(us);
  }
  EXPECT_FALSE(ProfileJob(task, request, result).has_value());
  request.set_profile(true);
  const auto spec = ProfileJob(task, request, result);
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->kind(), v1::JOB_KIND_PROFILE);
  EXPECT_EQ(spec->workload_uuids_size(), 1);
  EXPECT_EQ(spec->workload_uuids(0), "w7");
  EXPECT_EQ(spec->architecture(), "sm_90a");
  EXPECT_EQ(spec->limits().total_time().seconds(), 120);
  result.clear_workloads();
  EXPECT_FALSE(ProfileJob(task, request, result).has_value());
}

TEST(EvaluationJob, ArchitecturesOfCudaAreWrittenAsNvccDoes) {
  v1::Task task = SomeTask();
  task.set_device(v1::DEVICE_CLASS_CUDA);
  task.mutable_references(0)->set_language(v1::LANGUAGE_CUDA);
  v1::EvaluateRequest request;
  request.set_kind(v1::JOB_KIND_BUILD);
  *request.mutable_sources() = Program("candidate");
  request.mutable_sources()->set_language(v1::LANGUAGE_CUDA);
  for (const char* name : {"", "sm_90a", "sm_100f", "sm_75"}) {
    request.set_architecture(name);
    EXPECT_TRUE(EvaluationJob(task, request).ok()) << name;
  }
  for (const char* name : {"90a", "sm_", "sm_9", "sm_90ab", "sm_90a --x", "hopper"}) {
    request.set_architecture(name);
    EXPECT_THAT(EvaluationJob(task, request).status().ToString(), HasSubstr("write sm_90a"))
        << name;
  }
}

TEST(EvaluationJob, ArchitecturesOfProcessorsAreTheirOwnInALanguageOfBoth) {
  v1::EvaluateRequest request;
  request.set_kind(v1::JOB_KIND_SCREEN);
  *request.mutable_sources() = Program("candidate");
  request.mutable_sources()->set_language(v1::LANGUAGE_PYTHON);
  request.set_architecture("x86-64-v3");
  EXPECT_TRUE(EvaluationJob(SomeTask(), request).ok());
}

TEST(EvaluationJob, NamesNoMoreWorkloadsThanAJobMayHave) {
  v1::EvaluateRequest request;
  request.set_kind(v1::JOB_KIND_SCREEN);
  *request.mutable_sources() = Program("candidate");
  while (request.workload_uuids_size() < kMaxWorkloads) request.add_workload_uuids("small");
  EXPECT_TRUE(EvaluationJob(SomeTask(), request).ok());
  request.add_workload_uuids("small");
  EXPECT_THAT(EvaluationJob(SomeTask(), request).status().ToString(),
              HasSubstr("workload_uuids: names 1025 workloads of task 't'"));
}

TEST(EvaluationJob, OnlyTasksOfSuitesHaveAClockOfTheirOwn) {
  v1::EvaluateRequest request;
  request.set_kind(v1::JOB_KIND_SCREEN);
  *request.mutable_sources() = Program("candidate");
  request.mutable_plan()->set_suite_clock(true);
  v1::Task task = SomeTask();
  EXPECT_THAT(EvaluationJob(task, request).status().ToString(), HasSubstr("plan.suite_clock"));
  task.mutable_suite_clock()->set_calls(10);
  const auto spec = EvaluationJob(task, request);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_TRUE(spec->plan().suite_clock());
  request.mutable_plan()->set_suite_clock_checked(true);
  EXPECT_THAT(EvaluationJob(task, request).status().ToString(),
              HasSubstr("plan.suite_clock_checked"));
  task.mutable_suite_clock()->mutable_checked()->set_calls(10);
  EXPECT_TRUE(EvaluationJob(task, request).ok());
}

TEST(EvaluationJob, WhatNobodyCanDoIsSaidWithWhatItTakes) {
  v1::JobSpec spec;
  spec.mutable_candidate()->set_language(v1::LANGUAGE_CUDA);
  EXPECT_THAT(NoWorkerText(spec, OneWorker()), HasSubstr("can judge cuda candidates; "));
  spec.set_architecture("sm_100a");
  EXPECT_THAT(NoWorkerText(spec, OneWorker()), HasSubstr("can judge cuda candidates on sm_100a; "));
  spec.set_kind(v1::JOB_KIND_BUILD);
  EXPECT_THAT(NoWorkerText(spec, OneWorker()),
              HasSubstr("can build cuda candidates for sm_100a; "));
}

}  // namespace
}  // namespace ksearch

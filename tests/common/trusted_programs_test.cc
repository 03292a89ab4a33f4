#include "common/trusted_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/identity.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

v1::Sources Program(v1::Language language, const std::string& text) {
  v1::Sources sources;
  sources.set_language(language);
  v1::SourceFile* file = sources.add_files();
  file->set_path("program");
  file->set_content(text);
  return sources;
}

v1::Task GpuTask() {
  v1::Task task;
  task.set_name("t");
  task.set_device(v1::DEVICE_CLASS_CUDA);
  *task.add_references() = Program(v1::LANGUAGE_CUDA, "cuda reference");
  *task.add_references() = Program(v1::LANGUAGE_PYTHON, "python reference");
  *task.add_baselines() = Program(v1::LANGUAGE_CUDA, "cuda baseline");
  return task;
}

v1::JobSpec Job(v1::JobKind kind, v1::Language language) {
  v1::JobSpec spec;
  spec.set_kind(kind);
  spec.mutable_candidate()->set_language(language);
  return spec;
}

TEST(TrustedProgramsTest, TheCandidatesLanguageFirstThenTheFirst) {
  const v1::Task task = GpuTask();
  EXPECT_EQ(ChooseTrusted(task.references(), v1::LANGUAGE_PYTHON), &task.references(1));
  EXPECT_EQ(ChooseTrusted(task.references(), v1::LANGUAGE_CUDA), &task.references(0));
  EXPECT_EQ(ChooseTrusted(task.baselines(), v1::LANGUAGE_PYTHON), &task.baselines(0));
  EXPECT_EQ(ChooseTrusted(v1::Task().baselines(), v1::LANGUAGE_PYTHON), nullptr);
}

TEST(TrustedProgramsTest, JobsNameWhatTheyRun) {
  const v1::Task task = GpuTask();
  for (const v1::JobKind kind :
       {v1::JOB_KIND_SCREEN, v1::JOB_KIND_CONFIRM, v1::JOB_KIND_BASELINE}) {
    v1::JobSpec spec = Job(kind, v1::LANGUAGE_PYTHON);
    NameTrustedPrograms(task, &spec);
    EXPECT_EQ(spec.reference().id(), CandidateId(task.references(1)));
    EXPECT_EQ(spec.reference().language(), v1::LANGUAGE_PYTHON);
    EXPECT_EQ(spec.baseline().id(), CandidateId(task.baselines(0)));
    EXPECT_EQ(spec.baseline().language(), v1::LANGUAGE_CUDA);
  }
  for (const v1::JobKind kind :
       {v1::JOB_KIND_CHECK, v1::JOB_KIND_PROFILE, v1::JOB_KIND_EXAMINE, v1::JOB_KIND_BUILD}) {
    v1::JobSpec spec = Job(kind, v1::LANGUAGE_CUDA);
    spec.mutable_baseline()->set_id("of an earlier kind");
    NameTrustedPrograms(task, &spec);
    EXPECT_EQ(spec.has_reference(), kind != v1::JOB_KIND_BUILD);
    EXPECT_FALSE(spec.has_baseline());
  }
}

TEST(TrustedProgramsTest, WorkersRunWhatIsNamedAndWhatWouldBeNamed) {
  const v1::Task task = GpuTask();
  v1::JobSpec spec = Job(v1::JOB_KIND_SCREEN, v1::LANGUAGE_PYTHON);
  const auto unnamed = FindTrustedPrograms(task, spec);
  ASSERT_TRUE(unnamed.ok()) << unnamed.status();
  NameTrustedPrograms(task, &spec);
  const auto named = FindTrustedPrograms(task, spec);
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(named->reference, &task.references(1));
  EXPECT_EQ(named->baseline, &task.baselines(0));
  EXPECT_EQ(unnamed->reference, named->reference);
  EXPECT_EQ(unnamed->baseline, named->baseline);

  // Against the rule, but the job names it.
  spec.mutable_reference()->set_id(CandidateId(task.references(0)));
  spec.mutable_reference()->set_language(v1::LANGUAGE_CUDA);
  spec.clear_baseline();
  const auto other = FindTrustedPrograms(task, spec);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->reference, &task.references(0));
  EXPECT_EQ(other->baseline, nullptr);
}

TEST(TrustedProgramsTest, WhatTheTaskDoesNotHoldIsRefused) {
  v1::Task task = GpuTask();
  v1::JobSpec spec = Job(v1::JOB_KIND_SCREEN, v1::LANGUAGE_CUDA);
  NameTrustedPrograms(task, &spec);
  v1::JobSpec wrong = spec;
  wrong.mutable_baseline()->set_id(spec.reference().id());
  EXPECT_EQ(FindTrustedPrograms(task, wrong).status().code(), absl::StatusCode::kInvalidArgument);
  // The job was placed by its languages.
  wrong = spec;
  wrong.mutable_reference()->set_language(v1::LANGUAGE_PYTHON);
  EXPECT_THAT(std::string(FindTrustedPrograms(task, wrong).status().message()),
              HasSubstr("reference: task t has no such program"));
  task.clear_references();
  EXPECT_EQ(FindTrustedPrograms(task, Job(v1::JOB_KIND_CHECK, v1::LANGUAGE_CUDA)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(FindTrustedPrograms(task, Job(v1::JOB_KIND_BUILD, v1::LANGUAGE_CUDA)).ok());
}

TEST(TrustedProgramsTest, ALanguageMustRunOnTheTasksDevice) {
  EXPECT_TRUE(CheckRunsTask("language", GpuTask(), v1::LANGUAGE_PYTHON).ok());
  EXPECT_EQ(CheckRunsTask("language", GpuTask(), v1::LANGUAGE_CPP).message(),
            "language: cpp programs do not run on the device of task t, a GPU");
  v1::Task bare = GpuTask();
  bare.clear_references();
  EXPECT_FALSE(CheckRunsTask("language", bare, v1::LANGUAGE_CUDA).ok());
}

}  // namespace
}  // namespace ksearch

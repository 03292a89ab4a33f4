#include "coordinator/service/evaluation.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

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

TEST(EvaluationJob, RefusesARivalThatCannotBeComparedWith) {
  v1::EvaluateRequest request = Confirmation();
  *request.mutable_rival() = Program("rival");
  request.set_kind(v1::JOB_KIND_SCREEN);
  EXPECT_THAT(EvaluationJob(SomeTask(), request).status().ToString(), HasSubstr("rival: only"));

  request = Confirmation();
  request.mutable_rival()->set_language(v1::LANGUAGE_CPP);
  EXPECT_THAT(EvaluationJob(SomeTask(), request).status().ToString(), HasSubstr("rival: needs"));

  *request.mutable_rival() = Program("rival");
  request.mutable_rival()->set_language(v1::LANGUAGE_CUDA);
  EXPECT_THAT(EvaluationJob(SomeTask(), request).status().ToString(), HasSubstr("rival: needs"));
}

}  // namespace
}  // namespace ksearch

// What SteerRun refuses before it reaches the run's thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"
#include "coordinator/service/search_service.h"
#include "coordinator/tasks/directory_suite.h"
#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class SteeringRpcsTest : public testing::Test {
 protected:
  SteeringRpcsTest()
      : tasks_(
            MakeDirectorySuite({std::string(std::getenv("KSEARCH_SOURCE_DIR")) + "/configs/tasks"})
                .value()) {
    RunRow row;
    row.run_id = "r1";
    row.status.set_run_id("r1");
    row.status.set_task("softmax_rows_f32");
    row.status.set_language(v1::LANGUAGE_CPP);
    EXPECT_TRUE(store_.CreateRun(row).ok());
    SearchService::Parts parts = {};
    parts.store = &store_;
    parts.tasks = tasks_.get();
    service_ = std::make_unique<SearchService>(parts);
    request_.set_run_id("r1");
    request_.set_request_id("once");
    v1::SourceFile* file = request_.mutable_program()->mutable_sources()->add_files();
    file->set_path("kernel.cpp");
    file->set_content("int x;");
  }
  void ExpectRefused(grpc::StatusCode code, const std::string& why) {
    v1::RunStatus reply;
    const grpc::Status status = service_->SteerRun(nullptr, &request_, &reply);
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(why));
  }

  FakeStore store_;
  const std::unique_ptr<TaskSuite> tasks_;
  std::unique_ptr<SearchService> service_;
  v1::SteerRunRequest request_;
};

TEST_F(SteeringRpcsTest, NamesWhatIsMissing) {
  request_.clear_request_id();
  ExpectRefused(grpc::StatusCode::INVALID_ARGUMENT, "request_id must have 1 to 128 characters");
  request_.set_request_id(std::string(129, 'x'));
  ExpectRefused(grpc::StatusCode::INVALID_ARGUMENT, "request_id must have 1 to 128 characters");
  request_.set_request_id("once");
  request_.set_run_id("nosuch");
  ExpectRefused(grpc::StatusCode::NOT_FOUND, "nosuch");
  request_.set_run_id("r1");
  request_.clear_change();
  ExpectRefused(grpc::StatusCode::INVALID_ARGUMENT, "give pause, edits or program");
}

TEST_F(SteeringRpcsTest, AProgramIsOneOfTheRunsLanguageAndNotTooLarge) {
  v1::Sources* sources = request_.mutable_program()->mutable_sources();
  sources->set_language(v1::LANGUAGE_PYTHON);
  ExpectRefused(grpc::StatusCode::INVALID_ARGUMENT,
                "program.sources.language is python, the run's is cpp");
  sources->set_language(v1::LANGUAGE_CPP);
  sources->mutable_files(0)->set_path("kernel.txt");
  ExpectRefused(grpc::StatusCode::INVALID_ARGUMENT, "has no file that ends in");
  sources->mutable_files(0)->set_content(std::string((256 << 10) + 1, 'x'));
  ExpectRefused(grpc::StatusCode::INVALID_ARGUMENT, "has 262145 bytes, at most 262144 are allowed");
  for (int i = 0; i < 16; ++i) sources->add_files()->set_path(absl::StrCat(i, ".h"));
  ExpectRefused(grpc::StatusCode::INVALID_ARGUMENT, "has 17 files, at most 16 are allowed");
  sources->clear_files();
  ExpectRefused(grpc::StatusCode::INVALID_ARGUMENT, "program.sources.files is empty");
}

}  // namespace
}  // namespace ksearch

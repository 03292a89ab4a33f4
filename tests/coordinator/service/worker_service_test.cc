// The workers' service from a plain client's point of view, over loopback.
#include "coordinator/service/worker_service.h"

#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/grpc_channel.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/protocol_version.h"
#include "gtest/gtest.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

class WorkerServiceTest : public ::testing::Test {
 protected:
  using Stream = grpc::ClientReaderWriterInterface<v1::WorkerUp, v1::WorkerDown>;

  WorkerServiceTest() : gateway_(WorkerGateway::Options(), &store_), service_(&gateway_) {
    grpc::ServerBuilder builder;
    ApplyServerSettings(&builder);
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    CHECK(server_ != nullptr && port != 0);
    channel_ = MakeChannel(absl::StrCat("127.0.0.1:", port));
    stub_ = v1::WorkerService::NewStub(channel_);
  }
  ~WorkerServiceTest() override {
    gateway_.Shutdown();
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
  }

  static v1::WorkerUp Hello(const std::string& worker) {
    v1::WorkerUp up;
    v1::WorkerHello* hello = up.mutable_hello();
    hello->set_protocol_version(kProtocolVersion);
    hello->set_worker_id(worker);
    hello->set_incarnation("i");
    hello->add_devices()->set_device_class(v1::DEVICE_CLASS_CPU);
    hello->mutable_devices(0)->add_languages(v1::LANGUAGE_CPP);
    return up;
  }
  static v1::WorkerUp Report(int free_slots) {
    v1::WorkerUp up;
    up.mutable_report()->set_free_slots(free_slots);
    return up;
  }
  // The status with which a session that sends `first` and then `second` ends.
  grpc::Status EndOf(const v1::WorkerUp& first, const v1::WorkerUp& second) {
    const auto context = ContextWithDeadline(absl::Seconds(20));
    auto stream = stub_->Session(context.get());
    stream->Write(first);
    stream->Write(second);
    v1::WorkerDown down;
    while (stream->Read(&down)) {
    }
    return stream->Finish();
  }

  FakeStore store_;
  WorkerGateway gateway_;
  WorkerService service_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::WorkerService::Stub> stub_;
};

TEST_F(WorkerServiceTest, SessionWithoutHelloIsRefused) {
  EXPECT_EQ(EndOf(Report(1), Report(1)).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(WorkerServiceTest, SecondHelloIsRefused) {
  EXPECT_EQ(EndOf(Hello("w"), Hello("w")).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(WorkerServiceTest, OtherProtocolVersionIsRefused) {
  v1::WorkerUp hello = Hello("w");
  hello.mutable_hello()->set_protocol_version(kProtocolVersion + 1);
  EXPECT_EQ(EndOf(hello, Report(1)).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(WorkerServiceTest, NewerSessionAbortsTheOlder) {
  const auto old_context = ContextWithDeadline(absl::Seconds(20));
  auto old_stream = stub_->Session(old_context.get());
  old_stream->Write(Hello("w"));
  old_stream->Write(Report(1));
  v1::WorkerDown down;
  ASSERT_TRUE(old_stream->Read(&down));
  const auto new_context = ContextWithDeadline(absl::Seconds(20));
  auto new_stream = stub_->Session(new_context.get());
  new_stream->Write(Hello("w"));
  EXPECT_FALSE(old_stream->Read(&down));
  EXPECT_EQ(old_stream->Finish().error_code(), grpc::StatusCode::ABORTED);
  new_stream->WritesDone();
  EXPECT_FALSE(new_stream->Read(&down));
  EXPECT_TRUE(new_stream->Finish().ok());
}

TEST_F(WorkerServiceTest, BrokenStreamDisconnectsTheWorker) {
  {
    const auto context = ContextWithDeadline(absl::Seconds(20));
    auto stream = stub_->Session(context.get());
    stream->Write(Hello("w"));
    stream->Write(Report(1));
    v1::WorkerDown down;
    ASSERT_TRUE(stream->Read(&down));
    EXPECT_TRUE(gateway_.Workers()[0].connected());
    context->TryCancel();
    stream->Finish();
  }
  EXPECT_TRUE(Eventually([&] { return !gateway_.Workers()[0].connected(); }));
}

TEST_F(WorkerServiceTest, LargeBlobComesInChunks) {
  std::string blob(3'500'000, 'x');
  blob.front() = 'a';
  blob.back() = 'z';
  const std::string name(64, '1');
  ASSERT_TRUE(store_.PutBlob(name, blob).ok());
  const auto context = ContextWithDeadline(absl::Seconds(20));
  v1::FetchBlobRequest request;
  request.set_sha256(name);
  auto reader = stub_->FetchBlob(context.get(), request);
  std::string got;
  int chunks = 0;
  v1::BlobChunk chunk;
  while (reader->Read(&chunk)) {
    EXPECT_LE(chunk.content().size(), size_t{1} << 20);
    got += chunk.content();
    ++chunks;
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(chunks, 4);
  EXPECT_EQ(got, blob);
}

TEST_F(WorkerServiceTest, MissingOrMisnamedBlobIsAnError) {
  const std::pair<std::string, grpc::StatusCode> cases[] = {
      {std::string(64, '2'), grpc::StatusCode::NOT_FOUND},
      {"../../etc/passwd", grpc::StatusCode::INVALID_ARGUMENT},
  };
  for (const auto& [name, code] : cases) {
    const auto context = ContextWithDeadline(absl::Seconds(20));
    v1::FetchBlobRequest request;
    request.set_sha256(name);
    auto reader = stub_->FetchBlob(context.get(), request);
    v1::BlobChunk chunk;
    EXPECT_FALSE(reader->Read(&chunk));
    EXPECT_EQ(reader->Finish().error_code(), code);
  }
}

TEST_F(WorkerServiceTest, ResultIsAnsweredAfterTheStoreHasIt) {
  v1::JobSpec spec;
  const std::string job = JobId(spec);
  ASSERT_TRUE(store_.AddJob(job, spec).ok());
  v1::RecordResultRequest request;
  request.set_lease_id("old-1");
  request.mutable_result()->set_job_id(job);
  request.mutable_result()->set_worker_id("w");
  request.mutable_result()->set_attempt(1);
  request.mutable_result()->set_outcome(v1::OUTCOME_INCORRECT);
  for (const auto expected :
       {v1::RecordResultReply::RECORDED, v1::RecordResultReply::ALREADY_RECORDED}) {
    const auto context = ContextWithDeadline(absl::Seconds(20));
    v1::RecordResultReply reply;
    ASSERT_TRUE(stub_->RecordResult(context.get(), request, &reply).ok());
    EXPECT_EQ(reply.disposition(), expected);
  }
  EXPECT_EQ(store_.results(), 1);
}

}  // namespace
}  // namespace ksearch

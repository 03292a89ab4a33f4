// A coordinator that hangs for 5 s, as on a machine that swaps or whose disk stalls: its workers
// stay or come back, and none of their work is lost. The real program, and the real client of many
// workers, each with its own connection and a fake executor.
//   KSEARCH_WORKERS=1000    as many workers (60)
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/grpc_channel.h"
#include "common/log.h"
#include "common/textproto.h"
#include "gpu_worker/session/session_client.h"
#include "proto/search_service.grpc.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/fake_executor.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

constexpr absl::Duration kStall = absl::Seconds(5);
constexpr absl::Duration kBackWithin = absl::Seconds(10);
// Each has a thread here and one in the coordinator.
constexpr int kMostJobs = 40;

int WorkerCount() {
  const char* const text = std::getenv("KSEARCH_WORKERS");
  int count = 60;
  if (text != nullptr) CHECK(absl::SimpleAtoi(text, &count));
  return count;
}

// One that runs until it is destroyed.
class StallWorker {
 public:
  StallWorker(const LocalCluster& cluster, int number, FakeExecutor& executor) {
    SessionClient::Options options;
    options.address = cluster.address();
    // Nobody checks this name without TLS, but channels that differ in it share no connection.
    options.access.server_name = absl::StrCat("w", number);
    options.state_dir = absl::StrCat(cluster.folder(), "/w", number);
    std::filesystem::create_directories(options.state_dir);
    options.slots = 1;
    options.hello.set_name(absl::StrCat("w", number));
    v1::DeviceCapability* device = options.hello.add_devices();
    device->set_device_class(v1::DEVICE_CLASS_CPU);
    device->add_languages(v1::LANGUAGE_CPP);
    auto created = SessionClient::Create(options, executor);
    CHECK_OK(created.status());
    client_ = *std::move(created);
    thread_ = std::thread([this] { EXPECT_TRUE(client_->Run().ok()); });
  }
  ~StallWorker() {
    client_->Stop();
    thread_.join();
  }

 private:
  std::unique_ptr<SessionClient> client_;
  std::thread thread_;
};

class StallTest : public testing::Test {
 protected:
  StallTest() {
    cluster_.StartCoordinator();
    stub_ = v1::SearchService::NewStub(
        grpc::CreateChannel(cluster_.address(), grpc::InsecureChannelCredentials()));
  }
  // Connected ones that have reported since then.
  int ReportedSince(absl::Time since) {
    v1::ListWorkersReply reply;
    const auto context = ContextWithDeadline(absl::Seconds(30));
    if (!stub_->ListWorkers(context.get(), v1::ListWorkersRequest(), &reply).ok()) return 0;
    int count = 0;
    for (const v1::WorkerStatus& worker : reply.workers()) {
      count +=
          worker.connected() && worker.has_report() && FromProto(worker.last_report_at()) >= since;
    }
    return count;
  }
  // Asks again if the connection breaks, as `ksearch eval` does.
  absl::StatusOr<v1::JobResult> Evaluate(int number) {
    v1::EvaluateRequest request;
    request.set_task("softmax_rows_f32");
    request.set_kind(v1::JOB_KIND_CHECK);
    request.mutable_sources()->set_language(v1::LANGUAGE_CPP);
    v1::SourceFile* file = request.mutable_sources()->add_files();
    file->set_path("kernel.cpp");
    file->set_content(absl::StrCat("// nobody builds it: ", number, "\n"));
    absl::Status status;
    for (int i = 0; i < 100; ++i) {
      const auto context = ContextWithDeadline(absl::Minutes(3));
      const auto reader = stub_->Evaluate(context.get(), request);
      v1::EvaluateReply reply;
      while (reader->Read(&reply)) {
        if (reply.has_result()) return reply.result();
      }
      status = FromGrpc(reader->Finish());
      if (!absl::IsUnavailable(status)) break;
      absl::SleepFor(absl::Milliseconds(100));
    }
    return status;
  }

  LocalCluster cluster_;
  std::unique_ptr<v1::SearchService::Stub> stub_;
};

TEST_F(StallTest, FiveSecondsOfStandstillLoseNoWorkerAndNoAttempt) {
  const int count = WorkerCount();
  const int jobs = std::min(count, kMostJobs);
  FakeExecutor executor;
  executor.Hold(true);
  std::vector<std::unique_ptr<StallWorker>> workers;
  for (int i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<StallWorker>(cluster_, i, executor));
  }
  ASSERT_TRUE(
      Eventually([&] { return ReportedSince(absl::InfinitePast()) == count; }, absl::Seconds(120)));
  std::vector<absl::StatusOr<v1::JobResult>> results(static_cast<size_t>(jobs));
  std::vector<std::thread> clients;
  for (int i = 0; i < jobs; ++i) {
    clients.emplace_back([&, i] { results[static_cast<size_t>(i)] = Evaluate(i); });
  }
  EXPECT_TRUE(Eventually([&] { return executor.started() == jobs; }, absl::Seconds(60)));

  const int coordinator = cluster_.Pid("coordinator");
  ASSERT_EQ(::kill(coordinator, SIGSTOP), 0);
  absl::SleepFor(kStall);
  ASSERT_EQ(::kill(coordinator, SIGCONT), 0);
  const absl::Time again = absl::Now();
  // A worker that stayed connected reports within 10 s, one that dialed again at once.
  EXPECT_TRUE(Eventually([&] { return ReportedSince(again) == count; }, absl::Seconds(60)))
      << ReportedSince(again) << " of " << count;
  const absl::Duration back = absl::Now() - again;
  std::printf("%d workers were heard %s after the standstill\n", count,
              absl::FormatDuration(absl::Trunc(back, absl::Milliseconds(10))).c_str());
  EXPECT_LE(back, kBackWithin + absl::Seconds(10));  // kBackWithin on a machine that is not busy

  executor.Hold(false);
  for (std::thread& client : clients) client.join();
  for (const absl::StatusOr<v1::JobResult>& result : results) {
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->outcome(), v1::OUTCOME_PASSED) << result->message();
    EXPECT_EQ(result->attempt(), 1) << "an attempt was lost";
  }
  EXPECT_EQ(executor.started(), jobs) << "a job was done twice";
  EXPECT_EQ(ReportedSince(again), count);
}

}  // namespace
}  // namespace ksearch

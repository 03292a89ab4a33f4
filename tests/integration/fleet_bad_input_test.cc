// Faults of machines in a fleet, and where users see them.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/access/client_access.h"
#include "common/grpc_channel.h"
#include "common/protocol_version.h"
#include "proto/search_service.pb.h"
#include "proto/worker_service.grpc.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/played_worker.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

CommandOutput Eval(const LocalCluster& cluster) {
  return cluster.Cli({"eval", "--task", "softmax_rows_f32", "--repeat", "--wait-for-workers", "1m",
                      LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp")});
}

// A coordinator of another release, which refuses every worker.
class OtherRelease final : public v1::WorkerService::Service {
 public:
  grpc::Status Session(grpc::ServerContext* /*context*/,
                       grpc::ServerReaderWriter<v1::WorkerDown, v1::WorkerUp>* stream) override {
    v1::WorkerUp up;
    stream->Read(&up);
    ++sessions;
    return {grpc::StatusCode::FAILED_PRECONDITION,
            absl::StrCat("protocol_version ", up.hello().protocol_version(), " is not supported")};
  }
  std::atomic<int> sessions = 0;
};

TEST(FleetBadInputTest, AWorkerOfAnotherVersionIsListedWithWhatToDo) {
  LocalCluster cluster;
  cluster.StartCoordinator();
  const auto stub = v1::WorkerService::NewStub(MakeChannel(cluster.address(), ClientAccess()));
  grpc::ClientContext context;
  const auto stream = stub->Session(&context);
  v1::WorkerUp up =
      PlayedHello("old-node", v1::DEVICE_CLASS_CPU, v1::LANGUAGE_CPP, v1::DeviceFingerprint());
  up.mutable_hello()->set_protocol_version(kProtocolVersion + 1);
  stream->Write(up);
  v1::WorkerDown down;
  EXPECT_FALSE(stream->Read(&down));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  const std::string seen = cluster.Cli({"workers"}).out;
  EXPECT_THAT(seen,
              testing::ContainsRegex(
                  "refused: old-node, [0-9]+s ago: protocol_version [0-9]+ is not supported"));
  EXPECT_THAT(seen, HasSubstr("install worker and coordinator of the same release"));
}

TEST(FleetBadInputTest, AWorkerThatIsTurnedAwayForItsVersionEndsAndDoesNotTryAgain) {
  OtherRelease other;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&other);
  const auto server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  LocalCluster cluster;
  const CommandOutput worker = RunProgram(
      {cluster.BinaryPath("ksearch-worker"), "--config", cluster.worker_config(), "--coordinator",
       absl::StrCat("127.0.0.1:", port), "--state-dir", cluster.folder() + "/w1"});
  server->Shutdown();
  EXPECT_EQ(worker.exit.code, 5) << worker.err;
  EXPECT_THAT(worker.err, HasSubstr("is not supported"));
  EXPECT_EQ(other.sessions, 1);
}

TEST(FleetBadInputTest, WorkersOfTwoCoordinatorsOnOneDeviceTakeTurnsAndSaySo) {
  LocalCluster first, second;
  first.UseOwnDevice();
  second.UseDeviceOf(first);
  std::vector<LocalCluster*> clusters = {&first, &second};
  for (LocalCluster* cluster : clusters) {
    cluster->StartCoordinator();
    cluster->StartWorker("w");
  }
  std::atomic<bool> enough = false;
  std::vector<std::thread> clients;
  for (LocalCluster* cluster : clusters) {
    clients.emplace_back([&enough, cluster] {
      while (!enough) {
        const CommandOutput eval = Eval(*cluster);
        EXPECT_EQ(eval.exit.code, 0) << eval.err;
      }
    });
  }
  for (LocalCluster* cluster : clusters) {
    const int other = (cluster == &first ? second : first).Pid("w");
    std::string seen;
    EXPECT_TRUE(Eventually(
        [&] {
          seen = cluster->Cli({"workers"}).out;
          return absl::StrContains(
              seen,
              absl::StrCat(" is shared, in turns, with another worker of this machine: process ",
                           other, " (ksearch-worker)"));
        },
        absl::Seconds(90)))
        << seen;
  }
  enough = true;
  for (std::thread& client : clients) client.join();
}

}  // namespace
}  // namespace ksearch

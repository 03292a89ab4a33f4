// Today's coordinator and worker, each of which sees the other as one of the last release,
// without later fields. This is the state of a cluster during an upgrade, whichever is
// upgraded first. tests/compatibility/one_version_apart.py does it with real older programs, if
// there are any.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/integration/from_json.h"
#include "tests/integration/last_release_proxy.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::Contains;

TEST(LastReleaseTest, WorkersOfTheLastReleaseAndThisOneWorkForEachOthersCoordinators) {
  LocalCluster cluster;
  cluster.UseOwnDevice();
  cluster.StartModelServer(
      LocalCluster::SourcePath("tests/integration/data/softmax.cassette.textproto"));
  cluster.StartCoordinator();
  LastReleaseProxy proxy(cluster.address());
  cluster.Start("w1", {cluster.BinaryPath("ksearch-worker"), "--config", cluster.worker_config(),
                       "--coordinator", proxy.address(), "--state-dir",
                       cluster.folder() + "/state-w1", "--name", "w1"});
  const auto workers = [&] {
    return FromJson<v1::ListWorkersReply>(cluster.Cli({"workers", "--json"}).out).workers();
  };
  ASSERT_TRUE(Eventually([&] { return workers().size() == 1 && workers()[0].connected(); },
                         absl::Seconds(60)))
      << cluster.Log("w1");
  const CommandOutput eval =
      cluster.Cli({"eval", "--task", "softmax_rows_f32", "--json",
                   LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp")});
  ASSERT_EQ(eval.exit.code, 0) << eval.err << cluster.Log("w1");
  EXPECT_EQ(FromJson<v1::JobResult>(eval.out).outcome(), v1::OUTCOME_PASSED);
  const CommandOutput run = cluster.Cli(
      {"run", "--task", "softmax_rows_f32", "--rounds", "4", "--stagnation", "2", "--config",
       LocalCluster::SourcePath("tests/integration/data/quick_run.textproto")},
      absl::Minutes(5));
  // 7: no program was confirmed, which depends on timing on this machine.
  EXPECT_TRUE(run.exit.code == 0 || run.exit.code == 7) << run.err;
  EXPECT_EQ(FromJson<v1::RunStatus>(cluster.Cli({"status", "last", "--json"}).out).rounds_done(),
            4);
  // A draining worker is understood, too: it finishes and ends.
  const std::string id = workers()[0].hello().worker_id();
  EXPECT_EQ(cluster.Cli({"workers", "--drain", id}).exit.code, 0);
  EXPECT_TRUE(Eventually([&] { return !cluster.Running("w1"); }, absl::Seconds(60)))
      << cluster.Log("w1");
  // Checks that the proxy dropped something.
  const auto dropped = proxy.dropped();
  std::printf("did not go through: %s\n", absl::StrJoin(dropped, ", ").c_str());
  EXPECT_THAT(dropped, Contains("ksearch.v1.WorkerHello.sent_at"));
}

}  // namespace
}  // namespace ksearch

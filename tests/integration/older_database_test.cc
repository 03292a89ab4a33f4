// The database of an earlier release with today's programs: a run that its coordinator did not
// finish continues to its end, and finished runs are unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/store/migrations.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/database_rows.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsSupersetOf;

std::vector<std::string> Results(const std::string& path) {
  return Rows(path, "SELECT job_id || ' ' || hex(body) FROM results");
}

class OlderDatabaseTest : public testing::TestWithParam<int> {};

// Each fixture holds a finished run of three rounds, and one of two rounds whose coordinator was
// killed while its first call waited (tests/coordinator/store/fixtures/make.sh).
TEST_P(OlderDatabaseTest, RunThatWasNotFinishedGoesOn) {
  LocalCluster cluster;
  const std::string path = cluster.folder() + "/state/ksearch.db";
  std::filesystem::create_directories(cluster.folder() + "/state");
  std::filesystem::copy_file(LocalCluster::SourcePath(absl::StrCat(
                                 "tests/coordinator/store/fixtures/schema_", GetParam(), ".db")),
                             path);
  const std::vector<std::string> results = Results(path);
  ASSERT_GE(results.size(), 2u);
  cluster.UseOwnDevice();
  cluster.StartModelServer(
      LocalCluster::SourcePath("tests/integration/data/softmax.cassette.textproto"));
  cluster.StartCoordinator();
  EXPECT_EQ(Rows(path, "PRAGMA user_version"),
            std::vector<std::string>{absl::StrCat(Migrations().back().version)});
  cluster.StartWorker("w1");

  const CommandOutput watch = cluster.Cli({"watch", "last"});
  // A busy machine leaves the candidate undecided.
  EXPECT_THAT(watch.exit.code, AnyOf(0, 7)) << watch.out << watch.err;
  EXPECT_THAT(watch.out, HasSubstr("2 of 2 rounds, 2 candidates (1 passed)"));
  const auto runs = FromJson<v1::ListRunsReply>(cluster.Cli({"status", "--json"}).out);
  ASSERT_EQ(runs.runs_size(), 2);
  for (const v1::RunStatus& run : runs.runs()) {
    EXPECT_EQ(run.state(), v1::RUN_STATE_FINISHED) << run.ShortDebugString();
    EXPECT_EQ(run.rounds_done(), run.rounds_total());
    EXPECT_EQ(cluster.Cli({"tree", run.run_id()}).exit.code, 0);
    EXPECT_EQ(cluster.Cli({"log", run.run_id()}).exit.code, 0);
  }
  EXPECT_THAT(Results(path), IsSupersetOf(results)) << "results never change";
}

INSTANTIATE_TEST_SUITE_P(Schema, OlderDatabaseTest,
                         testing::Values(1, Migrations().back().version - 1));

}  // namespace
}  // namespace ksearch

// Faults of the database of real programs: copied while a search writes to it and restored, a disk
// that fills up and has space again, a file system that refuses writes.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "coordinator/store/database.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/database_rows.h"
#include "tests/fakes/small_disk.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

constexpr int kRounds = 6;

// Acknowledged data: results to workers, replies to the run.
std::vector<std::string> Results(const std::string& path) {
  return Rows(path, "SELECT job_id || ' ' || lease_id || ' ' || hex(body) FROM results");
}
std::vector<std::string> Replies(const std::string& path) {
  return Rows(path,
              "SELECT call_id || ' ' || cost_nano || ' ' || reply FROM llm_calls "
              "WHERE replied_unix_us IS NOT NULL");
}

void ExpectSound(const std::string& path) {
  EXPECT_THAT(Rows(path, "PRAGMA integrity_check"), testing::ElementsAre("ok"));
  EXPECT_THAT(Rows(path, "PRAGMA foreign_key_check"), IsEmpty());
}

class StoreTest : public testing::Test {
 protected:
  // A cluster, a search that it works on, and where its database is.
  struct Search {
    LocalCluster cluster;
    std::string Database() const { return cluster.folder() + "/state/ksearch.db"; }

    void StartPrograms(const std::string& config = "") {
      cluster.StartModelServer(
          LocalCluster::SourcePath("tests/integration/data/softmax.cassette.textproto"),
          {"--delay-ms", "20"});
      cluster.StartCoordinator(config);
      cluster.StartWorker("w1");
    }
    CommandOutput Run(const std::string& seed) {
      return cluster.Cli({"run", "--task", "softmax_rows_f32", "--rounds", absl::StrCat(kRounds),
                          "--stagnation", "2", "--seed", seed, "--detach", "--config",
                          LocalCluster::SourcePath("tests/integration/data/quick_run.textproto")});
    }
    v1::RunStatus Status() {
      v1::RunStatus status;
      const CommandOutput answer = cluster.Cli({"status", "last", "--json"});
      EXPECT_EQ(answer.exit.code, 0) << answer.err;
      EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(answer.out, &status).ok())
          << answer.out;
      return status;
    }
    // Up to `rounds` of the search are done.
    void Await(int rounds) {
      const absl::Time give_up = absl::Now() + absl::Minutes(3);
      while (Status().rounds_done() < rounds && !testing::Test::HasFailure()) {
        ASSERT_LT(absl::Now(), give_up) << Status().ShortDebugString();
        absl::SleepFor(absl::Milliseconds(50));
      }
    }
    void ExpectFinished() {
      EXPECT_EQ(cluster.Cli({"watch", "last"}, absl::Minutes(4)).exit.code, 0);
      EXPECT_EQ(Status().state(), v1::RUN_STATE_FINISHED) << Status().ShortDebugString();
      EXPECT_EQ(Status().rounds_done(), kRounds);
      ExpectSound(Database());
      EXPECT_THAT(Rows(Database(),
                       "SELECT job_id FROM jobs WHERE job_id NOT IN (SELECT job_id FROM "
                       "results)"),
                  IsEmpty());
      EXPECT_THAT(Rows(Database(),
                       "SELECT call_id FROM llm_calls WHERE replied_unix_us IS NULL OR "
                       "error <> ''"),
                  IsEmpty());
      EXPECT_THAT(Rows(Database(),
                       "SELECT job_id FROM attempts WHERE ended = 'recorded' GROUP BY "
                       "job_id HAVING count(*) > 1"),
                  IsEmpty());
    }
    CommandOutput Coordinator(std::vector<std::string> args) {
      args.insert(args.begin(), cluster.BinaryPath("ksearch-coordinator"));
      return RunProgram(args);
    }
  };

  static void ExpectOneLine(const CommandOutput& output, int code,
                            const testing::Matcher<std::string>& text) {
    EXPECT_EQ(output.exit.code, code) << output.err;
    EXPECT_THAT(output.err, text);
    EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1) << output.err;
  }
};

TEST_F(StoreTest, CopyTakenInTheMiddleOfASearchIsRestoredAndGoesOn) {
  const std::string copy = "/backups/copy.db";
  std::vector<std::string> results;
  std::vector<std::string> replies;
  Search restored;
  {
    Search search;
    search.StartPrograms();
    ASSERT_EQ(search.Run("1").exit.code, 0);
    // Several, so that some fall between a commit and the next.
    for (int rounds = 1; rounds <= 3; ++rounds) {
      search.Await(rounds);
      const std::vector<std::string> before = Results(search.Database());
      const CommandOutput output =
          search.Coordinator({"--state-dir", search.cluster.folder() + "/state", "--backup",
                              search.cluster.folder() + copy});
      ASSERT_EQ(output.exit.code, 0) << output.err;
      ExpectSound(search.cluster.folder() + copy);
      EXPECT_THAT(Results(search.cluster.folder() + copy), IsSupersetOf(before));
    }
    results = Results(search.cluster.folder() + copy);
    replies = Replies(search.cluster.folder() + copy);
    EXPECT_GE(results.size(), 2u);
    // As docs/operations.md says: into an empty state folder, under the database's name.
    std::filesystem::create_directory(restored.cluster.folder() + "/state");
    std::filesystem::copy_file(search.cluster.folder() + copy, restored.Database());
    search.ExpectFinished();  // it was not disturbed
    EXPECT_THAT(Results(search.Database()), IsSupersetOf(results));
  }
  restored.StartPrograms();
  restored.ExpectFinished();
  EXPECT_THAT(Results(restored.Database()), IsSupersetOf(results));
  EXPECT_THAT(Replies(restored.Database()), IsSupersetOf(replies));  // none asked again
}

TEST_F(StoreTest, FullDiskIsSaidAndTheSearchGoesOnWhenThereIsRoom) {
  Search search;
  SmallDisk disk(search.cluster.folder() + "/state", "4m");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  search.StartPrograms();
  ASSERT_EQ(search.Run("1").exit.code, 0);
  search.Await(1);
  disk.Fill();
  const std::vector<std::string> results = Results(search.Database());
  // New work is refused with the reason, and existing data can still be read.
  CommandOutput refused = search.Run("2");
  for (int tries = 0; tries < 20 && refused.exit.code == 0; ++tries) {
    refused = search.Run(absl::StrCat(3 + tries));  // the last bytes of the log's pages
  }
  ExpectOneLine(refused, 1, HasSubstr("the coordinator's disk is nearly full"));
  EXPECT_EQ(search.cluster.Cli({"status"}).exit.code, 0);
  EXPECT_TRUE(search.cluster.Running("coordinator"));
  const absl::Time give_up = absl::Now() + absl::Minutes(1);
  while (search.cluster.Log("coordinator").find("the disk is full") == std::string::npos) {
    ASSERT_LT(absl::Now(), give_up);
    absl::SleepFor(absl::Milliseconds(50));
  }
  disk.MakeRoom();
  for (const std::string& run_id : Rows(search.Database(), "SELECT run_id FROM runs")) {
    EXPECT_EQ(search.cluster.Cli({"watch", run_id}, absl::Minutes(4)).exit.code, 0);
  }
  search.ExpectFinished();
  EXPECT_THAT(Results(search.Database()), IsSupersetOf(results));
  EXPECT_TRUE(search.cluster.Running("coordinator"));
}

TEST_F(StoreTest, BelowTheMarkNothingNewIsStartedAndWhatGoesOnGoesOn) {
  Search search;
  SmallDisk disk(search.cluster.folder() + "/state", "64m");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  search.StartPrograms("least_free_bytes: 33554432");
  ASSERT_EQ(search.Run("7").exit.code, 0);
  const std::string stopped = search.Status().run_id();
  ASSERT_EQ(search.cluster.Cli({"stop", stopped}).exit.code, 0);
  ASSERT_EQ(search.Run("1").exit.code, 0);
  search.Await(1);
  disk.Take(44 << 20);
  const auto refused =
      AllOf(HasSubstr("the coordinator's disk is nearly full"),
            HasSubstr("fewer than least_free_bytes (33554432)"), HasSubstr("ksearch gc"));
  ExpectOneLine(search.Run("2"), 1, refused);
  ExpectOneLine(search.cluster.Cli({"resume", stopped}), 1, refused);
  ExpectOneLine(search.cluster.Cli(
                    {"eval", "--task", "softmax_rows_f32", "--repeat",
                     LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp")}),
                1, refused);
  const CommandOutput doctor = search.cluster.Cli({"doctor"});
  EXPECT_THAT(doctor.out + doctor.err, HasSubstr("the coordinator's disk is nearly full"));
  const int before = search.Status().rounds_done();
  // 7: no program was confirmed, which is a matter of times on this machine.
  EXPECT_THAT(search.cluster.Cli({"watch", "last"}, absl::Minutes(4)).exit.code,
              testing::AnyOf(0, 7));
  EXPECT_EQ(search.Status().state(), v1::RUN_STATE_FINISHED) << search.Status().ShortDebugString();
  EXPECT_EQ(search.Status().rounds_done(), kRounds);
  EXPECT_LT(before, kRounds) << "the search went on below the mark";
  ExpectSound(search.Database());
  EXPECT_EQ(Rows(search.Database(), "SELECT run_id FROM runs").size(), 2u);
  disk.MakeRoom();
  EXPECT_EQ(search.cluster.Cli({"resume", stopped}).exit.code, 0);
}

TEST_F(StoreTest, DiskWithoutRoomForADatabaseOrACopyIsSaid) {
  Search search;
  const std::string small = search.cluster.folder() + "/small";
  SmallDisk disk(small, "256k");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  std::filesystem::create_directory(small + "/state");
  disk.Fill();
  const std::string tasks = LocalCluster::SourcePath("configs/tasks");
  ExpectOneLine(
      search.Coordinator(
          {"--state-dir", small + "/state", "--listen", "127.0.0.1:0", "--task-dir", tasks}),
      3, AllOf(HasSubstr(small), testing::AnyOf(HasSubstr("No space left"), HasSubstr("full"))));
  search.cluster.StartCoordinator();
  ExpectOneLine(search.Coordinator({"--state-dir", search.cluster.folder() + "/state", "--backup",
                                    small + "/copy.db"}),
                3, AllOf(HasSubstr("copy.db"), HasSubstr("full")));
  EXPECT_FALSE(std::filesystem::exists(small + "/copy.db"));
  EXPECT_FALSE(std::filesystem::exists(small + "/copy.db.part"));
}

TEST_F(StoreTest, ReadOnlyFileSystemIsSaidAndNothingIsChanged) {
  Search search;
  SmallDisk disk(search.cluster.folder() + "/state", "8m");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  search.cluster.StartCoordinator();
  EXPECT_EQ(search.cluster.Stop("coordinator"), 0);
  ASSERT_TRUE(disk.MakeReadOnly());
  ExpectOneLine(
      search.Coordinator({"--state-dir", search.cluster.folder() + "/state", "--listen",
                          "127.0.0.1:0", "--task-dir", LocalCluster::SourcePath("configs/tasks")}),
      3, AllOf(HasSubstr("/state/ksearch.db"), HasSubstr("read-only")));
}

}  // namespace
}  // namespace ksearch

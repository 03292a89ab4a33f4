// Real programs whose disks fill up while a search runs: the worker's state folder, a sink's
// folder, and the folder that a command writes to. (The coordinator's own: store_test.cc.)
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/small_disk.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kRounds = 6;

class FullDiskTest : public testing::Test {
 protected:
  void StartPrograms(const std::string& coordinator_config) {
    cluster_.UseOwnDevice();
    cluster_.StartModelServer(
        LocalCluster::SourcePath("tests/integration/data/softmax.cassette.textproto"),
        {"--delay-ms", "20"});
    cluster_.StartCoordinator(coordinator_config);
    cluster_.StartWorker("w1");
  }
  void StartSearch() {
    const CommandOutput run =
        cluster_.Cli({"run", "--task", "softmax_rows_f32", "--rounds", absl::StrCat(kRounds),
                      "--stagnation", "2", "--seed", "1", "--detach", "--config",
                      LocalCluster::SourcePath("tests/integration/data/quick_run.textproto")});
    ASSERT_EQ(run.exit.code, 0) << run.err;
  }
  v1::RunStatus Status() {
    v1::RunStatus status;
    const CommandOutput answer = cluster_.Cli({"status", "last", "--json"});
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(answer.out, &status).ok())
        << answer.out << answer.err;
    return status;
  }
  // The output of a command has this text within two minutes.
  void AwaitText(const std::vector<std::string>& command, const std::string& text) {
    const absl::Time give_up = absl::Now() + absl::Minutes(2);
    CommandOutput output;
    do {
      output = cluster_.Cli(command);
      if ((output.out + output.err).find(text) != std::string::npos) return;
      absl::SleepFor(absl::Milliseconds(100));
    } while (absl::Now() < give_up);
    FAIL() << text << " not in: " << output.out << output.err << cluster_.Log("w1");
  }
  void ExpectFinished() {
    // 7: no program was confirmed, which is a matter of times on this machine.
    EXPECT_THAT(cluster_.Cli({"watch", "last"}, absl::Minutes(4)).exit.code, testing::AnyOf(0, 7));
    EXPECT_EQ(Status().state(), v1::RUN_STATE_FINISHED) << Status().ShortDebugString();
    EXPECT_EQ(Status().rounds_done(), kRounds);
  }
  void ExpectOneLine(const CommandOutput& output, const std::string& path) {
    EXPECT_EQ(output.exit.code, 1) << output.err;
    EXPECT_EQ(output.err, absl::StrCat("ksearch: write ", path, ": No space left on device\n"));
  }

  LocalCluster cluster_;
};

TEST_F(FullDiskTest, AWorkerWithAFullDiskKeepsItsResultsAndTakesNoJobsUntilThereIsSpace) {
  SmallDisk disk(cluster_.folder() + "/w1", "24m");  // its state folder
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  ::chmod(disk.path().c_str(), 0777);  // for the worker's account
  StartPrograms("");
  StartSearch();
  // The first program that can be built is being measured.
  AwaitText({"log", "last"}, "candidate proposed  round 2");
  AwaitText({"jobs"}, "running on");
  disk.Fill();
  const std::string full = absl::StrCat("the disk of state_dir ", disk.path(), " is full");
  AwaitText({"worker", "ls"}, full);
  AwaitText({"doctor"}, full);
  // Its result is not lost.
  AwaitText({"log", "last"}, "candidate passed");
  EXPECT_THAT(cluster_.Log("w1"), testing::Not(HasSubstr("result could not be kept")));
  EXPECT_EQ(Status().state(), v1::RUN_STATE_RUNNING);
  disk.MakeRoom();
  AwaitText({"worker", "ls"}, "ready");
  ExpectFinished();
}

TEST_F(FullDiskTest, ASinkWithAFullDiskLosesNoEvents) {
  SmallDisk disk(cluster_.folder() + "/sinks", "64k");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  std::string config;
  for (const std::string kind : {"jsonl", "tensorboard", "wandb"}) {
    absl::StrAppend(&config, "sinks { kind: \"", kind, "\" folder: \"", disk.path(), "/", kind,
                    "\" }\n");
  }
  StartPrograms(config);
  disk.Fill();
  StartSearch();
  AwaitText({"doctor"}, "No space left on device");
  ExpectFinished();
  disk.MakeRoom();
  AwaitText({"doctor"}, "sink jsonl: writes to");
  const std::vector<std::string> events =
      absl::StrSplit(cluster_.Cli({"log", "last", "--json"}).out, '\n', absl::SkipEmpty());
  const std::string path = absl::StrCat(disk.path(), "/jsonl/", Status().run_id(), ".jsonl");
  size_t lines = 0;
  const absl::Time give_up = absl::Now() + absl::Minutes(1);
  do {
    std::ifstream file(path);
    lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    absl::SleepFor(absl::Milliseconds(100));
  } while (lines < events.size() && absl::Now() < give_up);
  EXPECT_EQ(lines, events.size());
}

TEST_F(FullDiskTest, CommandsThatWriteFilesNameTheFileAndLeaveNoPartOfIt) {
  SmallDisk disk(cluster_.folder() + "/out", "1m");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs";
  StartPrograms("");
  StartSearch();
  ExpectFinished();
  disk.Fill();
  const std::string file = disk.path() + "/file";
  ExpectOneLine(cluster_.Cli({"export", "last", "--cassette", file}), file);
  ExpectOneLine(cluster_.Cli({"export", "last", "--format", "html", "--out", file}), file);
  ExpectOneLine(cluster_.Cli({"export", "last", "--format", "trace", "--out", file}), file);
  ExpectOneLine(cluster_.Cli({"backup", file}), file);
  const CommandOutput best = cluster_.Cli({"best", "last", "-o", disk.path() + "/best"});
  if (best.exit.code != 7) ExpectOneLine(best, disk.path() + "/best/kernel.cpp");
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(disk.path())) {
    files += entry.is_regular_file();
  }
  EXPECT_EQ(files, 1u) << "the ballast alone";
  disk.MakeRoom();
  EXPECT_EQ(cluster_.Cli({"export", "last", "--cassette", file}).exit.code, 0);
}

}  // namespace
}  // namespace ksearch

// A database copied by `ksearch backup`, and one from which `ksearch gc` removes old runs, both
// while a coordinator searches on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/integration/from_json.h"
#include "tests/integration/scripted_run.h"
#include "tests/integration/store_rows.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr absl::Duration kLongestSearch = absl::Minutes(10);

const std::vector<std::string> kSearchWords = {"--rounds", "6", "--stagnation", "2"};

// Programs whose outcomes no load changes.
class Search : public ScriptedRun {
 public:
  Search()
      : ScriptedRun("small_softmax_f32", "tests/integration/data/small_softmax.cassette.textproto",
                    "tests/integration/data/crash_run.textproto", kSearchWords) {}

  std::string State() { return cluster().folder() + "/state"; }
  // One more like the first.
  std::string StartAnother() {
    std::vector<std::string> words = {
        "run",      "--json",
        "--task",   "small_softmax_f32",
        "--config", LocalCluster::SourcePath("tests/integration/data/crash_run.textproto"),
        "--detach"};
    words.insert(words.end(), kSearchWords.begin(), kSearchWords.end());
    const CommandOutput started = cluster().Cli(words);
    EXPECT_EQ(started.exit.code, 0) << started.err;
    return FromJson<v1::StartRunReply>(started.out).run_id();
  }
  v1::RunStatus StatusOf(const std::string& run_id) {
    return FromJson<v1::RunStatus>(cluster().Cli({"status", run_id, "--json"}).out);
  }
  void AwaitFinished(const std::string& run_id) {
    EXPECT_TRUE(Eventually([&] { return StatusOf(run_id).state() == v1::RUN_STATE_FINISHED; },
                           kLongestSearch))
        << StatusOf(run_id).ShortDebugString();
  }
};

// The result of a search, without measurements: its tree, the model calls, every evaluation with
// its outcome, and the best.
std::vector<std::string> StoryOf(const Search& search) {
  std::vector<std::string> story;
  const v1::WorldModel tree = search.Tree();
  for (const v1::Node& node : tree.nodes()) {
    story.push_back(absl::StrCat(node.parent_id(), " > ", node.node_id(), " : ",
                                 node.solution().candidate_id()));
  }
  for (const std::string& row :
       search.Rows("SELECT purpose || ' ' || node_id || ' ' || attempt || ' ' || finish_reason "
                   "FROM llm_calls ORDER BY number")) {
    story.push_back(row);
  }
  for (const std::string& row :
       search.Rows("SELECT kind || ' ' || candidate_id || ' ' || outcome FROM jobs JOIN results "
                   "USING (job_id) WHERE kind NOT IN ('JOB_KIND_CHECK', 'JOB_KIND_BASELINE') "
                   "ORDER BY jobs.number")) {
    story.push_back(row);
  }
  story.push_back("best " + search.Status().best().candidate_id());
  return story;
}

TEST(RetentionTest, ASearchRestoredFromABackupEndsExactlyAsTheOneThatWentOn) {
  Search search;
  const std::string copy = search.cluster().folder() + "/copy.db";
  ASSERT_TRUE(Eventually([&] { return search.Rows("SELECT job_id FROM results").size() >= 3; },
                         kLongestSearch));
  ASSERT_FALSE(search.Ended());
  const CommandOutput backup = search.cluster().Cli({"backup", copy, "--json"});
  ASSERT_EQ(backup.exit.code, 0) << backup.err;
  EXPECT_THAT(backup.out, AllOf(HasSubstr(copy), HasSubstr("sha256")));
  struct stat facts;
  ASSERT_EQ(::stat(copy.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);  // it holds prompts and programs
  EXPECT_THAT(StoreRows(copy, "PRAGMA integrity_check"), ElementsAre("ok"));
  const size_t copied = StoreRows(copy, "SELECT job_id FROM results").size();
  EXPECT_GE(copied, 3u);
  EXPECT_TRUE(std::filesystem::is_empty(search.State() + "/transfer"));

  search.AwaitEnd(kLongestSearch);
  const std::vector<std::string> undisturbed = StoryOf(search);
  EXPECT_LT(copied, search.Rows("SELECT job_id FROM results").size());
  // The disk is lost. As docs/operations.md says: into an empty folder, under the database's name.
  search.cluster().Kill("coordinator");
  search.cluster().Kill("w1");
  std::filesystem::rename(search.State(), search.State() + ".lost");
  std::filesystem::create_directory(search.State());
  std::filesystem::copy_file(copy, search.State() + "/ksearch.db");
  search.StartCoordinator();
  search.cluster().StartWorker("w1");
  search.AwaitEnd(kLongestSearch);
  EXPECT_EQ(StoryOf(search), undisturbed);
  ExpectWorkRecordedOnce(search.State() + "/ksearch.db");
}

TEST(RetentionTest, OldRunsGoToAnArchiveWhileAnotherSearchGoesOn) {
  Search search;
  LocalCluster& cluster = search.cluster();
  const std::string first =
      FromJson<v1::ListRunsReply>(cluster.Cli({"status", "--json"}).out).runs(0).run_id();
  const std::string archive = cluster.folder() + "/archive/old.db";
  std::filesystem::create_directory(cluster.folder() + "/archive");
  search.AwaitEnd(kLongestSearch);
  const v1::RunStatus before = search.StatusOf(first);
  const std::string second = search.StartAnother();
  EXPECT_TRUE(Eventually([&] { return search.StatusOf(second).rounds_done() >= 1; }))
      << cluster.Log("coordinator");
  const std::string events = cluster.Cli({"log", first, "--json"}).out;

  const CommandOutput plan = cluster.Cli({"gc", "--run", first, "--dry-run"});
  ASSERT_EQ(plan.exit.code, 0) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr(first), HasSubstr("small_softmax_f32"),
                              HasSubstr("nothing has changed")));
  EXPECT_EQ(search.StatusOf(first).run_id(), first);
  const CommandOutput unended = cluster.Cli({"gc", "--run", second, "--archive", archive});
  EXPECT_EQ(unended.exit.code, 3) << unended.err;
  EXPECT_THAT(unended.err, HasSubstr("has not ended; stop it first"));
  EXPECT_FALSE(std::filesystem::exists(archive));
  std::ofstream(archive) << "mine";
  const CommandOutput taken = cluster.Cli({"gc", "--run", first, "--archive", archive});
  EXPECT_EQ(taken.exit.code, 3) << taken.err;
  EXPECT_THAT(taken.err, HasSubstr("old.db exists; name a new file"));
  std::filesystem::remove(archive);
  EXPECT_EQ(cluster.Cli({"gc", "--archive", archive}).exit.code, 2);
  EXPECT_EQ(cluster.Cli({"gc", "--older-than", "0d", "--archive", archive}).exit.code, 2);
  EXPECT_THAT(cluster.Cli({"gc", "--older-than", "1d", "--archive", archive}).out,
              HasSubstr("no run is to be removed"));

  const CommandOutput gone = cluster.Cli({"gc", "--run", first, "--archive", archive});
  ASSERT_EQ(gone.exit.code, 0) << gone.err;
  EXPECT_THAT(gone.out, HasSubstr(archive + " has them"));
  EXPECT_EQ(cluster.Cli({"status", first}).exit.code, 3);
  search.AwaitFinished(second);
  EXPECT_THAT(search.Rows("PRAGMA foreign_key_check"), IsEmpty());
  // Jobs that only the first run had requested are measured again on request.
  const std::string third = search.StartAnother();
  search.AwaitFinished(third);
  EXPECT_EQ(search.StatusOf(third).best().candidate_id(), before.best().candidate_id());

  // Another coordinator reads the archive.
  EXPECT_THAT(StoreRows(archive, "SELECT run_id FROM runs"), ElementsAre(first));
  EXPECT_THAT(StoreRows(archive, "PRAGMA foreign_key_check"), IsEmpty());
  std::filesystem::create_directory(cluster.folder() + "/archive/state");
  std::filesystem::copy_file(archive, cluster.folder() + "/archive/state/ksearch.db");
  cluster.Start("archivist",
                {cluster.BinaryPath("ksearch-coordinator"), "--state-dir",
                 cluster.folder() + "/archive/state", "--listen", "127.0.0.1:0", "--task-dir",
                 LocalCluster::SourcePath("tests/integration/data/tasks")});
  const std::string address = cluster.folder() + "/archive/state/address";
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(address); }));
  std::string where;
  std::getline(std::ifstream(address), where);
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {cluster.BinaryPath("ksearch"), "--coordinator", where});
    return RunProgram(words);
  };
  EXPECT_EQ(FromJson<v1::RunStatus>(ask({"status", first, "--json"}).out).best().candidate_id(),
            before.best().candidate_id());
  EXPECT_EQ(ask({"log", first, "--json"}).out, events);
  const CommandOutput best = ask({"best", first, "--source"});
  EXPECT_EQ(best.exit.code, 0) << best.err;
  EXPECT_THAT(best.out, HasSubstr("ksearch_run"));
}

}  // namespace
}  // namespace ksearch

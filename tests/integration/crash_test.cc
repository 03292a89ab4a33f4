// Real programs, killed with SIGKILL at random instants of a scripted search. Each search must end
// as the undisturbed one did: the same tree, every candidate evaluated once, no call of the model
// repeated that had an answer.
//
// Kills a victim (default 2):   KSEARCH_CRASHES=20 integration_crash_test
// Other instants:               KSEARCH_CRASH_SEED=7 integration_crash_test
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/rng.h"
#include "common/textproto.h"
#include "proto/search_service.pb.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::ElementsAreArray;

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  int value = otherwise;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

// Processes whose command line names `program` of this cluster. A sandboxed runner is two: the
// sandbox around it, and itself, which comes last.
std::vector<pid_t> ProcessesOf(const std::string& program) {
  std::vector<pid_t> pids;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    const auto command = ReadFile(entry.path().string() + "/cmdline", 1 << 20);
    if (command.ok() && absl::StartsWith(*command, program)) pids.push_back(pid);
  }
  return pids;
}

// One search on a cluster and a store of its own.
class Search {
 public:
  Search() {
    cluster_.StartModelServer(
        LocalCluster::SourcePath("tests/integration/data/softmax.cassette.textproto"),
        {"--delay-ms", "20"});
    cluster_.StartCoordinator();
    cluster_.StartWorker("w1");
    const CommandOutput started = cluster_.Cli(
        {"run", "--task", "softmax_rows_f32", "--rounds", "6", "--stagnation", "2", "--config",
         LocalCluster::SourcePath("tests/integration/data/quick_run.textproto"), "--detach"});
    EXPECT_EQ(started.exit.code, 0) << started.err;
  }
  ~Search() { sqlite3_close(database_); }

  bool Finished() { return Status().state() == v1::RUN_STATE_FINISHED; }
  void WatchToTheEnd() {
    EXPECT_EQ(cluster_.Cli({"watch", "last"}, absl::Minutes(15)).exit.code, 0);
    EXPECT_EQ(Status().state(), v1::RUN_STATE_FINISHED) << Status().ShortDebugString();
  }

  void KillCoordinator() {
    cluster_.Kill("coordinator");
    cluster_.StartCoordinator();
  }
  void KillWorker() {
    cluster_.Kill("w1");
    cluster_.StartWorker("w1");
  }
  // False: there is none at this moment.
  bool KillAnother(const std::string& program, Rng* rng) {
    const std::vector<pid_t> pids = ProcessesOf(cluster_.BinaryPath(program));
    if (pids.empty()) return false;
    return ::kill(pids[rng->NextBelow(pids.size())], SIGKILL) == 0;
  }

  // The tree without what was measured: ids, parents, and which candidate solved which node.
  std::vector<std::string> Shape() {
    v1::WorldModel tree;
    Ask({"tree", "last", "--json"}, &tree);
    std::vector<std::string> shape;
    for (const v1::Node& node : tree.nodes()) {
      shape.push_back(absl::StrCat(node.parent_id(), " > ", node.node_id(), " : ",
                                   node.solution().candidate_id()));
    }
    for (const v1::Tombstone& tombstone : tree.tombstones()) {
      shape.push_back(absl::StrCat("pruned ", tombstone.node_id()));
    }
    return shape;
  }
  // What was asked of the model, in order.
  std::vector<std::string> Calls() {
    return Rows(
        "SELECT purpose || ' ' || node_id || ' ' || attempt || ' ' || finish_reason "
        "FROM llm_calls ORDER BY number");
  }
  // Candidates with the outcome of every job about them.
  std::vector<std::string> Evaluations() {
    return Rows(
        "SELECT c.round || ' ' || c.candidate_id || ' ' || r.outcome FROM candidates c "
        "JOIN results r ON r.job_id = c.job_id ORDER BY c.number");
  }
  void ExpectNothingLostOrDoubled() {
    EXPECT_THAT(Rows("SELECT job_id FROM jobs WHERE job_id NOT IN (SELECT job_id FROM results)"),
                testing::IsEmpty())
        << "jobs without a result";
    EXPECT_THAT(Rows("SELECT job_id FROM attempts WHERE ended = 'recorded' GROUP BY job_id "
                     "HAVING COUNT(*) > 1"),
                testing::IsEmpty())
        << "jobs recorded twice";
    EXPECT_THAT(Rows("SELECT lease_id FROM attempts WHERE ended = ''"), testing::IsEmpty())
        << "leases left open";
    EXPECT_THAT(Rows("SELECT call_id FROM llm_calls WHERE replied_unix_us IS NULL OR error <> ''"),
                testing::IsEmpty())
        << "calls without a reply";
    EXPECT_THAT(Rows("SELECT job_id FROM results WHERE outcome LIKE '%WORKER_LOST'"),
                testing::IsEmpty());
  }
  std::string Attempts() {
    return absl::StrCat(Rows("SELECT lease_id FROM attempts").size(), " attempts for ",
                        Rows("SELECT job_id FROM jobs").size(), " jobs");
  }

 private:
  v1::RunStatus Status() {
    v1::RunStatus status;
    Ask({"status", "last", "--json"}, &status);
    return status;
  }
  // A coordinator that has just come back may keep the first question waiting for too long.
  template <typename Message>
  void Ask(const std::vector<std::string>& args, Message* message) {
    CommandOutput answer;
    for (int tries = 0; tries < 10; ++tries) {
      answer = cluster_.Cli(args);
      if (answer.exit.code != 0) continue;
      const auto status = google::protobuf::util::JsonStringToMessage(answer.out, message);
      EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << answer.out;
      return;
    }
    ADD_FAILURE() << args[0] << " exits with " << answer.exit.code << ": " << answer.err;
  }
  std::vector<std::string> Rows(const std::string& query) {
    if (database_ == nullptr) {
      for (const auto& entry : std::filesystem::directory_iterator(cluster_.folder() + "/state")) {
        const std::string extension = entry.path().extension().string();
        if (extension == ".db" || extension == ".sqlite") {
          EXPECT_EQ(
              sqlite3_open_v2(entry.path().c_str(), &database_, SQLITE_OPEN_READONLY, nullptr),
              SQLITE_OK);
        }
      }
    }
    std::vector<std::string> rows;
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database_, query.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << query << ": " << sqlite3_errmsg(database_);
    while (statement != nullptr && sqlite3_step(statement) == SQLITE_ROW) {
      const unsigned char* text = sqlite3_column_text(statement, 0);
      rows.emplace_back(text == nullptr ? "NULL" : reinterpret_cast<const char*>(text));
    }
    sqlite3_finalize(statement);
    return rows;
  }

  LocalCluster cluster_;
  sqlite3* database_ = nullptr;
};

class CrashTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Search search;
    search.WatchToTheEnd();
    search.ExpectNothingLostOrDoubled();
    shape = new std::vector<std::string>(search.Shape());
    calls = new std::vector<std::string>(search.Calls());
    evaluations = new std::vector<std::string>(search.Evaluations());
    ASSERT_FALSE(shape->empty());
    ASSERT_FALSE(calls->empty());
    ASSERT_GT(evaluations->size(), 3u);
  }
  static void TearDownTestSuite() {
    delete shape;
    delete calls;
    delete evaluations;
  }

  // Runs searches, each with kills at random instants, until there were enough kills. `kill`
  // returns false if there was nothing to kill.
  void Survives(const std::string& victim, const std::function<bool(Search&, Rng*)>& kill) {
    const int wanted = FromEnvironment("KSEARCH_CRASHES", 2);
    Rng rng(static_cast<uint64_t>(FromEnvironment("KSEARCH_CRASH_SEED", 1)));
    int kills = 0, searches = 0;
    for (; kills < wanted && searches < 3 * wanted && !HasFailure(); ++searches) {
      Search search;
      int here = 0;
      // A few each, so that the next life gets somewhere before it ends.
      const int at_most = std::min(5, wanted - kills);
      while (here < at_most && !search.Finished()) {
        absl::SleepFor(absl::Milliseconds(static_cast<int64_t>(rng.NextBelow(1500))));
        if (search.Finished()) break;
        for (int tries = 0; tries < 200; ++tries) {
          if (kill(search, &rng)) {
            ++here;
            break;
          }
          absl::SleepFor(absl::Milliseconds(5));
        }
      }
      kills += here;
      search.WatchToTheEnd();
      search.ExpectNothingLostOrDoubled();
      EXPECT_THAT(search.Shape(), ElementsAreArray(*shape)) << victim;
      EXPECT_THAT(search.Calls(), ElementsAreArray(*calls)) << victim;
      EXPECT_THAT(search.Evaluations(), ElementsAreArray(*evaluations)) << victim;
      std::printf("%s: %d kills, %s\n", victim.c_str(), here, search.Attempts().c_str());
      std::fflush(stdout);
    }
    EXPECT_GE(kills, wanted);
    std::printf("%s: %d kills in %d searches\n", victim.c_str(), kills, searches);
  }

  static const std::vector<std::string>* shape;
  static const std::vector<std::string>* calls;
  static const std::vector<std::string>* evaluations;
};

const std::vector<std::string>* CrashTest::shape = nullptr;
const std::vector<std::string>* CrashTest::calls = nullptr;
const std::vector<std::string>* CrashTest::evaluations = nullptr;

TEST_F(CrashTest, Coordinator) {
  Survives("coordinator", [](Search& search, Rng*) {
    search.KillCoordinator();
    return true;
  });
}

TEST_F(CrashTest, Worker) {
  Survives("worker", [](Search& search, Rng*) {
    search.KillWorker();
    return true;
  });
}

TEST_F(CrashTest, Verifier) {
  Survives("verifier",
           [](Search& search, Rng* rng) { return search.KillAnother("ksearch-verifier", rng); });
}

TEST_F(CrashTest, Runner) {
  Survives("runner",
           [](Search& search, Rng* rng) { return search.KillAnother("ksearch-runner", rng); });
}

}  // namespace
}  // namespace ksearch

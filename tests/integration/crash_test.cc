// Real programs, killed with SIGKILL at random instants of a scripted search. Each search must end
// as the undisturbed one did: the same tree and the same best, every candidate evaluated once, no
// call of the model repeated that had an answer.
//
// Kills of each kind (default 2):   KSEARCH_CRASHES=20 integration_crash_test
// Other instants:                   KSEARCH_CRASH_SEED=7 integration_crash_test
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/clock.h"
#include "common/rng.h"
#include "common/textproto.h"
#include "tests/integration/scripted_run.h"
#include "tests/integration/store_rows.h"

namespace ksearch {
namespace {

using testing::IsEmpty;

// A search takes seconds; on a machine that is busy many times over, minutes.
constexpr absl::Duration kLongestSearch = absl::Minutes(10);

constexpr char kTree[] = "world_model";

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  int value = otherwise;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

// Processes that run `program`, and the sandboxes around it: their command lines name it too.
std::vector<pid_t> ProcessesOf(const std::string& program) {
  std::vector<pid_t> pids;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    const auto command = ReadFile(entry.path().string() + "/cmdline", 1 << 20);
    if (command.ok() && absl::StrContains(*command, program)) pids.push_back(pid);
  }
  return pids;
}

// The result of a search, without measurements.
struct Story {
  std::vector<std::string> tree;         // parent > node : solution, and what was pruned
  std::vector<std::string> calls;        // what was asked of the model, in order
  std::vector<std::string> evaluations;  // every job with its outcome, in order
  std::string best;

  bool operator==(const Story& other) const = default;
};

void PrintTo(const Story& story, std::ostream* out) {
  for (const auto* part : {&story.tree, &story.calls, &story.evaluations}) {
    for (const std::string& line : *part) *out << "\n  " << line;
  }
  *out << "\n  best " << story.best;
}

class Search : public ScriptedRun {
 public:
  // Programs whose outcomes no load changes: one does not compile, one is wrong, one is some times
  // faster than the baseline and one much more than that.
  explicit Search(const std::string& strategy)
      : ScriptedRun("small_softmax_f32",
                    strategy == kTree ? "tests/integration/data/small_softmax.cassette.textproto"
                                      : "tests/integration/data/attempts.cassette.textproto",
                    "tests/integration/data/crash_run.textproto", Words(strategy)),
        has_tree_(strategy == kTree) {}

  void KillCoordinator() {
    cluster().Kill("coordinator");
    StartCoordinator();
  }
  void KillWorker() {
    cluster().Kill("w1");
    cluster().StartWorker("w1");
  }
  // Returns false if no such process started before the end.
  bool KillOneOf(const std::string& program, Rng* rng) {
    while (!Ended()) {
      const std::vector<pid_t> pids = ProcessesOf(cluster().BinaryPath(program));
      if (!pids.empty() && ::kill(pids[rng->NextBelow(pids.size())], SIGKILL) == 0) return true;
      // Not always right after its start.
      absl::SleepFor(absl::Milliseconds(static_cast<int64_t>(rng->NextBelow(50))));
    }
    return false;
  }

  Story Tell() const {
    Story story;
    const v1::WorldModel tree = has_tree_ ? Tree() : v1::WorldModel();
    for (const v1::Node& node : tree.nodes()) {
      story.tree.push_back(absl::StrCat(node.parent_id(), " > ", node.node_id(), " : ",
                                        node.solution().candidate_id()));
    }
    for (const v1::Tombstone& tombstone : tree.tombstones()) {
      story.tree.push_back(absl::StrCat("pruned ", tombstone.node_id()));
    }
    story.calls = Rows(
        "SELECT purpose || ' ' || node_id || ' ' || attempt || ' ' || finish_reason "
        "FROM llm_calls ORDER BY number");
    // Whether the task's own programs come first depends on a worker that is there just then.
    story.evaluations = Rows(
        "SELECT kind || ' ' || candidate_id || ' ' || outcome FROM jobs JOIN results USING "
        "(job_id) WHERE kind NOT IN ('JOB_KIND_CHECK', 'JOB_KIND_BASELINE') ORDER BY jobs.number");
    story.best = Status().best().candidate_id();
    return story;
  }

  void ExpectNothingLostOrDoubled() {
    ExpectWorkRecordedOnce(cluster().folder() + "/state/ksearch.db");
    EXPECT_THAT(Rows("SELECT job_id FROM results WHERE job_id NOT IN (SELECT job_id FROM attempts "
                     "WHERE ended = 'recorded')"),
                IsEmpty())
        << "results of no attempt";
    EXPECT_THAT(Rows("SELECT lease_id FROM attempts WHERE ended = ''"), IsEmpty())
        << "leases left open";
    EXPECT_THAT(Rows("SELECT candidate_id FROM candidates GROUP BY candidate_id HAVING COUNT(*) <> "
                     "1"),
                IsEmpty())
        << "candidates recorded twice";
  }

  // A call is sent again only if its reply was lost with the process that waited for it. Returns
  // how many were.
  int ExpectNoAnswerAskedForAgain() const {
    // By name: how often it may have been sent.
    std::map<std::string, int> allowed;
    int lost = 0;
    for (const std::string& call :
         Rows("SELECT lost_sends || ' ' || purpose || '/' || node_id || '/' || attempt || '/' || "
              "cycle FROM llm_calls")) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(call, absl::MaxSplits(' ', 1));
      int lost_sends = 0;
      EXPECT_TRUE(absl::SimpleAtoi(parts.first, &lost_sends)) << call;
      EXPECT_TRUE(allowed.emplace(parts.second, 1 + lost_sends).second) << "two calls " << call;
      lost += lost_sends;
    }
    const std::map<std::string, int> sent = calls();
    EXPECT_EQ(sent.size(), allowed.size());
    for (const auto& [call, times] : sent) EXPECT_LE(times, allowed[call]) << call;
    return lost;
  }

  int Events() const { return static_cast<int>(Rows("SELECT seq FROM events").size()); }
  int Attempts() const { return static_cast<int>(Rows("SELECT lease_id FROM attempts").size()); }

 private:
  static std::vector<std::string> Words(const std::string& strategy) {
    std::vector<std::string> words = {"--rounds", "6", "--strategy", strategy};
    if (strategy == kTree) words.insert(words.end(), {"--stagnation", "2"});
    return words;
  }

  const bool has_tree_;
};

struct Victim {
  std::string name;
  // Few enough that no job loses its third worker or runner, which would end the job.
  int most_per_search = 2;
  // False if there was nothing to kill.
  std::function<bool(Search&, Rng*)> kill;
  bool coordinator_too = false;  // then the reply to a call may be lost
};

// How a search by a strategy proceeds without kills.
struct Undisturbed {
  Story story;
  absl::Duration time;
  int events = 0;
};

class CrashTest : public testing::Test {
 protected:
  // Run only once.
  static const Undisturbed& UndisturbedOf(const std::string& strategy) {
    static auto* const known = new std::map<std::string, Undisturbed>();
    if (const auto found = known->find(strategy); found != known->end()) return found->second;
    const absl::Time start = Clock::Real().SteadyNow();
    Search search(strategy);
    search.AwaitEnd(kLongestSearch);
    Undisturbed& undisturbed = (*known)[strategy];
    undisturbed.time = Clock::Real().SteadyNow() - start;
    search.ExpectNothingLostOrDoubled();
    EXPECT_EQ(search.ExpectNoAnswerAskedForAgain(), 0);
    undisturbed.story = search.Tell();
    undisturbed.events = search.Events();
    if (strategy == kTree) {
      EXPECT_GE(undisturbed.story.tree.size(), 4u);
    } else {
      EXPECT_EQ(undisturbed.story.calls.size(), 6u);
    }
    // Four programs, and the confirmation of the best.
    EXPECT_EQ(undisturbed.story.evaluations.size(), 5u)
        << testing::PrintToString(undisturbed.story);
    EXPECT_FALSE(undisturbed.story.best.empty());
    std::printf("%s undisturbed: %d attempts, %zu calls, %d events, %s\n", strategy.c_str(),
                search.Attempts(), undisturbed.story.calls.size(), undisturbed.events,
                absl::FormatDuration(undisturbed.time).c_str());
    return undisturbed;
  }

  // Runs searches, each with kills at random instants, until there were enough kills.
  void Survives(const Victim& victim, const std::string& strategy = kTree) {
    const Undisturbed& undisturbed = UndisturbedOf(strategy);
    ASSERT_FALSE(HasFailure());
    const int wanted = FromEnvironment("KSEARCH_CRASHES", 2);
    Rng rng(static_cast<uint64_t>(FromEnvironment("KSEARCH_CRASH_SEED", 1)));
    int kills = 0, searches = 0, attempts = 0, evaluations = 0, lost_calls = 0;
    while (kills < wanted && searches < 3 * wanted && !HasFailure()) {
      Search search(strategy);
      // An instant is a number of events of the search, and a while more.
      std::vector<int> instants(std::min(victim.most_per_search, wanted - kills));
      for (int& instant : instants) {
        instant = static_cast<int>(rng.NextBelow(static_cast<uint64_t>(undisturbed.events - 2)));
      }
      std::sort(instants.begin(), instants.end());
      int here = 0;
      for (const int instant : instants) {
        while (search.Events() < instant && !search.Ended()) {
          absl::SleepFor(absl::Milliseconds(20));
        }
        absl::SleepFor(rng.NextDouble() * undisturbed.time / undisturbed.events);
        if (search.Ended() || HasFailure()) break;
        here += victim.kill(search, &rng);
      }
      search.AwaitEnd(kLongestSearch);
      search.ExpectNothingLostOrDoubled();
      lost_calls += search.ExpectNoAnswerAskedForAgain();
      const Story story = search.Tell();
      EXPECT_EQ(story, undisturbed.story) << strategy << ", " << victim.name;
      kills += here;
      ++searches;
      attempts += search.Attempts();
      evaluations += static_cast<int>(story.evaluations.size());
    }
    EXPECT_GE(kills, wanted);
    EXPECT_LE(lost_calls, victim.coordinator_too ? kills : 0);
    std::printf("%s, %s: %d kills in %d searches, %d attempts for %d jobs, %d calls lost\n",
                strategy.c_str(), victim.name.c_str(), kills, searches, attempts, evaluations,
                lost_calls);
    std::fflush(stdout);
  }
};

bool KillCoordinator(Search& search, Rng*) {
  search.KillCoordinator();
  return true;
}
bool KillWorker(Search& search, Rng*) {
  search.KillWorker();
  return true;
}
bool KillVerifier(Search& search, Rng* rng) { return search.KillOneOf("ksearch-verifier", rng); }
bool KillRunner(Search& search, Rng* rng) { return search.KillOneOf("ksearch-runner", rng); }

TEST_F(CrashTest, Coordinator) { Survives({"coordinator", 5, KillCoordinator, true}); }

TEST_F(CrashTest, Worker) { Survives({"worker", 2, KillWorker}); }

TEST_F(CrashTest, Verifier) { Survives({"verifier", 5, KillVerifier}); }

TEST_F(CrashTest, Runner) { Survives({"runner", 2, KillRunner}); }

Victim EachInTurn() {
  auto next = std::make_shared<size_t>(0);
  return {"each in turn", 4,
          [next](Search& search, Rng* rng) {
            constexpr bool (*kKinds[])(Search&, Rng*) = {KillRunner, KillCoordinator, KillWorker,
                                                         KillVerifier};
            const bool killed = kKinds[*next % std::size(kKinds)](search, rng);
            *next += killed ? 1 : 0;
            return killed;
          },
          true};
}

TEST_F(CrashTest, EachInTurn) { Survives(EachInTurn()); }

class StrategyCrashTest : public CrashTest, public testing::WithParamInterface<const char*> {};

TEST_P(StrategyCrashTest, Coordinator) {
  Survives({"coordinator", 5, KillCoordinator, true}, GetParam());
}

TEST_P(StrategyCrashTest, EachInTurn) { Survives(EachInTurn(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(WithoutATree, StrategyCrashTest,
                         testing::Values("best_of_n", "sequential"));

}  // namespace
}  // namespace ksearch

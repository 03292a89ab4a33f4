// Every strategy, with its coordinator killed with SIGKILL at random instants of a search of a
// landscape. The search must end as the undisturbed one did, to the last byte of the strategy's
// state: the same prompts, the same programs, the same verdicts. Model and worker are simulated and
// deterministic; the coordinator and its store are the real ones.
//
// Kills of each strategy (default 3):  KSEARCH_CRASHES=20 integration_strategy_crash_test
// Other instants:                      KSEARCH_CRASH_SEED=7 integration_strategy_crash_test
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/clock.h"
#include "common/digest.h"
#include "common/rng.h"
#include "common/textproto.h"
#include "coordinator/llm/model_server/chat_endpoint.h"
#include "coordinator/llm/model_server/http_server.h"
#include "coordinator/llm/model_server/landscape/landscape_player.h"
#include "coordinator/store/memory_rows.h"
#include "coordinator/store/run_rows.h"
#include "coordinator/store/store.h"
#include "coordinator/store/world_model_rows.h"
#include "coordinator/tasks/directory_suite.h"
#include "proto/run_state.pb.h"
#include "proto/search_service.pb.h"
#include "tests/integration/landscape_worker.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/store_rows.h"

namespace ksearch {
namespace {

constexpr int kRounds = 24;
constexpr absl::Duration kLongestSearch = absl::Minutes(10);
constexpr absl::Duration kLookEvery = absl::Milliseconds(5);
constexpr int kKillsPerSearch = 5;

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  int value = otherwise;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

std::string DemoFolder() { return LocalCluster::SourcePath("configs/demo/landscapes/"); }

// The number of a call within its run, from "RUN/NUMBER".
std::string CallNumber(const std::string& call_id) {
  return call_id.substr(call_id.rfind('/') + 1);
}

// Answers like the landscape's player, whatever the run's name. A reply waits until `may` lets its
// call through.
class HeldReplies final : public ReplySource {
 public:
  using May = std::function<void(const std::string& call_number)>;

  HeldReplies(const LandscapePlayer& player, May may) : player_(player), may_(std::move(may)) {}

  const std::string& model() const override { return player_.landscape().spec().model(); }
  EndpointResponse Reply(const ChatQuestion& question) override {
    const std::string number = CallNumber(question.Header("x-ksearch-call"));
    may_(number);
    const LandscapePlayer::Reply reply = player_.Answer({number, question.system, question.user});
    return CompletionResponse({.id = absl::StrCat("held-", number),
                               .model = model(),
                               .text = reply.text,
                               .usage = std::nullopt},
                              question);
  }
  std::optional<EndpointResponse> EmbeddingFault(const ChatQuestion& question) override {
    may_(CallNumber(question.Header("x-ksearch-call")));
    return std::nullopt;
  }

 private:
  const LandscapePlayer& player_;
  const May may_;
};

// The result of a search.
struct Story {
  std::vector<std::string> calls;        // number, purpose, and digests of question and reply
  std::vector<std::string> evaluations;  // every job with its outcome, in order
  std::string state;                     // what the strategy remembers at the end, digested
  std::string tree;                      // of strategies that have one, digested
  std::vector<std::string> gains;        // its gains in the memory
  std::string best;
  std::string reason;  // why it ended
};

class Search {
 public:
  Search(const LandscapePlayer& player, const v1::Task& task, const std::string& arm, bool taught) {
    if (taught) Teach();
    models_ = HttpServer::Start(0, [endpoint = std::make_shared<ChatEndpoint>(
                                        std::make_unique<HeldReplies>(
                                            player, [this](const std::string& number) {
                                              AwaitTurn(number);
                                            }))](const EndpointRequest& request) {
                return endpoint->Answer(request);
              }).value();
    cluster_.UseModelServer(absl::StrCat("http://127.0.0.1:", models_->port(), "/v1"));
    StartCoordinator();
    worker_ = std::make_unique<LandscapeWorker>(
        std::vector<LandscapeWorker::World>{{&player.landscape(), &task}}, cluster_.address());
    const std::string config = cluster_.folder() + "/run.textproto";
    std::ofstream(config) << arm << " rounds: " << kRounds << " parallel: 2 seed: 5\n"
                          << "language: LANGUAGE_CPP\n";
    const CommandOutput started = cluster_.Cli({"run", "--task", task.name(), "--config", config,
                                                "--wait-for-workers", "60s", "--detach"});
    EXPECT_EQ(started.exit.code, 0) << started.err;
  }
  ~Search() {
    stopping_ = true;
    worker_.reset();
    models_.reset();  // whose threads read the store
  }

  void KillCoordinator() {
    cluster_.Kill("coordinator");
    StartCoordinator();
  }
  v1::RunStatus Status() const {
    v1::RunStatus status;
    const auto rows = Rows("SELECT status FROM run_states");
    EXPECT_TRUE(rows.size() == 1 && status.ParseFromString(rows[0]));
    return status;
  }
  bool Ended() const { return Status().state() != v1::RUN_STATE_RUNNING; }
  void AwaitEnd() const {
    const absl::Time give_up = absl::Now() + kLongestSearch;
    while (!Ended() && absl::Now() < give_up) absl::SleepFor(kLookEvery);
    EXPECT_EQ(Status().state(), v1::RUN_STATE_FINISHED) << Status().ShortDebugString();
  }
  int Events() const { return Number("SELECT COUNT(*) FROM events"); }
  int LostCalls() const { return Number("SELECT COALESCE(SUM(lost_sends), 0) FROM llm_calls"); }

  Story Tell() const {
    Story story;
    const auto column = [&](const std::string& what) {
      return Rows(absl::StrCat("SELECT ", what, " FROM llm_calls ORDER BY number"));
    };
    const auto ids = column("call_id");
    const auto roles = column("role || ' ' || purpose || ' ' || attempt");
    const auto questions = column("system || prompt");
    const auto replies = column("COALESCE(reply, error)");
    for (size_t i = 0; i < ids.size(); ++i) {
      story.calls.push_back(absl::StrCat(CallNumber(ids[i]), " ", roles[i], " ",
                                         Sha256Hex(questions[i]).substr(0, 12), " ",
                                         Sha256Hex(replies[i]).substr(0, 12)));
    }
    story.evaluations = Rows(
        "SELECT kind || ' ' || candidate_id || ' ' || outcome FROM jobs JOIN results USING "
        "(job_id) WHERE kind <> 'JOB_KIND_CHECK' ORDER BY jobs.number");
    story.gains = Rows(
        "SELECT candidate_id || ' ' || bottleneck || ' ' || intent || ' ' || passed || ' ' || "
        "ifnull(speedup, 0) FROM memory_gains ORDER BY number");
    auto database = Database::Open(StorePath(), Database::Mode::kReadOnly).value();
    v1::RunEngineState state;
    EXPECT_TRUE(state.ParseFromString(
        run_rows::Read(*database, Rows("SELECT run_id FROM runs").at(0)).value().state));
    story.state = Sha256Hex(state.strategy_state());
    const auto tree =
        world_model_rows::Read(*database, Rows("SELECT run_id FROM runs").at(0), /*revision=*/0);
    if (tree.ok()) story.tree = Sha256Hex(tree->SerializeAsString());
    story.best = Status().best().candidate_id();
    story.reason = Status().reason();
    return story;
  }

  // The number of prompts that show gains of earlier runs.
  int TaughtQuestions() const {
    return Number("SELECT COUNT(*) FROM llm_calls WHERE prompt LIKE '%searches in this language%'");
  }

  void ExpectNothingLostOrDoubled() const { ExpectWorkRecordedOnce(StorePath()); }

 private:
  // Adds gains as if an earlier run on such a device had measured them.
  void Teach() const {
    Store::Options options;
    options.path = StorePath();
    Store::Open(options).value().reset();
    auto database = Database::Open(StorePath(), Database::Mode::kReadWriteCreate).value();
    v1::MeasuredGain gain;
    gain.set_run_id("earlier");
    gain.set_candidate_id("taught");
    gain.set_task("another");
    gain.set_op_type("elementwise");
    gain.set_device(v1::DEVICE_CLASS_CPU);
    gain.set_architecture("x86-64-v3");
    gain.set_language(v1::LANGUAGE_CPP);
    gain.set_intent(v1::INTENT_KIND_VECTORIZE);
    gain.set_passed(true);
    gain.set_speedup(1.5);
    EXPECT_TRUE(memory_rows::Insert(*database, gain, absl::Now()).ok());
  }
  std::string StorePath() const { return cluster_.folder() + "/state/ksearch.db"; }
  void StartCoordinator() {
    cluster_.StartCoordinator(
        absl::StrCat("providers { name: 'embeds' openai_chat { base_url: 'http://127.0.0.1:",
                     models_->port(), "/v1' default_model: 'landscape' label_headers: true ",
                     "embedding_model: 'words' embedding_piece_bytes: 400 } free: true }\n"),
        DemoFolder() + "tasks");
  }
  std::vector<std::string> Rows(const std::string& query) const {
    return StoreRows(StorePath(), query);
  }
  int Number(const std::string& query) const {
    int number = 0;
    EXPECT_TRUE(absl::SimpleAtoi(Rows(query).at(0), &number)) << query;
    return number;
  }

  // Waits until everything before the call is done and folded in, so that there is one order of
  // events, however fast each process is.
  void AwaitTurn(const std::string& call_number) const {
    const std::string number = "CAST(substr(call_id, instr(call_id, '/') + 1) AS INTEGER)";
    const std::string open = absl::StrCat(
        "SELECT (SELECT COUNT(*) FROM llm_calls WHERE replied_unix_us IS NULL AND ", number, " < ",
        call_number,
        ") + (SELECT COUNT(*) FROM jobs WHERE job_id NOT IN (SELECT job_id FROM results))"
        " + (SELECT COUNT(*) FROM arrivals JOIN run_states USING (run_id) WHERE seq > cursor)");
    const absl::Time give_up = absl::Now() + kLongestSearch;
    while (!stopping_ && Number(open) > 0 && absl::Now() < give_up) absl::SleepFor(kLookEvery);
  }

  std::atomic<bool> stopping_ = false;
  std::unique_ptr<HttpServer> models_;
  LocalCluster cluster_;
  std::unique_ptr<LandscapeWorker> worker_;
};

struct Arm {
  const char* name;
  const char* config;       // fields of a RunConfig
  bool ends_early = false;  // near the floor
  bool taught = false;      // there are measured gains to read
};

void PrintTo(const Arm& arm, std::ostream* out) { *out << arm.name; }

// With intervals so short that rare events happen within these few rounds.
constexpr Arm kArms[] = {
    {"world_model", "strategy: 'world_model'"},
    {"paper", "strategy: 'world_model' world_model { preset: PRESET_PAPER }"},
    {"judged", "strategy: 'world_model' judge: true"},
    {"taught", "strategy: 'world_model'", false, true},
    {"racing_taught", "strategy: 'racing' racing { lines: 3 }", false, true},
    {"best_of_n", "strategy: 'best_of_n'"},
    {"sequential", "strategy: 'sequential'"},
    {"sequential_judged", "strategy: 'sequential' judge: true"},
    {"sequential_floor", "strategy: 'sequential' floor_share: 0.3", true},
    {"openevolve",
     "strategy: 'openevolve' openevolve { preset: 'oe-tuned' population: 12 islands: 3"
     " archive: 6 migration_interval: 2 reply_form: REPLY_FORM_WHOLE }"},
    {"oe_ksearch", "strategy: 'openevolve' openevolve { preset: 'oe-ksearch' }"},
    {"evoengineer", "strategy: 'evoengineer'"},
    {"shinka",
     "strategy: 'shinka' shinka { migration_interval: 4 migration_rate: 0.3 notes_interval: 5"
     " patch_weight: 0 }"},
    {"shinka_embeddings",
     "strategy: 'shinka' provider: 'embeds' shinka { migration_interval: 4 migration_rate: 0.3"
     " notes_interval: 5 patch_weight: 0 novelty_threshold: 0.9985 }"},
    {"racing", "strategy: 'racing' racing { lines: 3 }"},
    {"puct", "strategy: 'puct' puct { history: 5 }"},
    {"adaevolve",
     "strategy: 'adaevolve' adaevolve { stagnation_window: 4 stagnation_gain: 0.5"
     " spawn_cooldown: 6 spawn_productivity: 0.5 migration_interval: 5 population: 4 }"},
};

class StrategyCrashTest : public testing::TestWithParam<Arm> {
 protected:
  void SetUp() override {
    const std::string path = DemoFolder() + "smooth.landscape.textproto";
    auto landscape =
        Landscape::Parse(absl::StrCat(ReadFile(path, 1 << 20).value(), "floor: 0.08\n"), path);
    ASSERT_TRUE(landscape.ok()) << landscape.status();
    player_ = std::make_unique<LandscapePlayer>(*std::move(landscape));
    task_ = MakeDirectorySuite({DemoFolder() + "tasks"}).value()->Load("tunable_scale_f32").value();
  }

  std::unique_ptr<LandscapePlayer> player_;
  v1::Task task_;
};

TEST_P(StrategyCrashTest, EndsAsIfNobodyHadBeenKilled) {
  Story undisturbed;
  int events = 0;
  absl::Duration time;
  {
    const absl::Time start = Clock::Real().SteadyNow();
    Search search(*player_, task_, GetParam().config, GetParam().taught);
    search.AwaitEnd();
    time = Clock::Real().SteadyNow() - start;
    search.ExpectNothingLostOrDoubled();
    undisturbed = search.Tell();
    EXPECT_EQ(search.TaughtQuestions() > 0, GetParam().taught);
    events = search.Events();
  }
  ASSERT_FALSE(HasFailure());
  if (GetParam().ends_early) {
    EXPECT_THAT(undisturbed.reason, testing::HasSubstr("of the fastest possible"));
    ASSERT_GE(undisturbed.calls.size(), kRounds / 6);
  } else {
    ASSERT_GE(undisturbed.calls.size(), kRounds);
    ASSERT_GE(undisturbed.evaluations.size(), kRounds / 2);
    EXPECT_GE(undisturbed.gains.size(), kRounds / 2);
  }
  EXPECT_FALSE(undisturbed.best.empty());

  const int wanted = FromEnvironment("KSEARCH_CRASHES", 3);
  Rng rng(static_cast<uint64_t>(FromEnvironment("KSEARCH_CRASH_SEED", 1)));
  int kills = 0, searches = 0, lost_calls = 0;
  while (kills < wanted && searches < 2 * wanted && !HasFailure()) {
    Search search(*player_, task_, GetParam().config, GetParam().taught);
    // An instant is a number of events of the search, and a while more.
    std::vector<int> instants(static_cast<size_t>(std::min(kKillsPerSearch, wanted - kills)));
    for (int& instant : instants) {
      instant = static_cast<int>(rng.NextBelow(static_cast<uint64_t>(events - 2)));
    }
    std::sort(instants.begin(), instants.end());
    for (const int instant : instants) {
      while (search.Events() < instant && !search.Ended()) absl::SleepFor(kLookEvery);
      absl::SleepFor(rng.NextDouble() * time / events);
      if (search.Ended() || HasFailure()) break;
      search.KillCoordinator();
      ++kills;
    }
    search.AwaitEnd();
    search.ExpectNothingLostOrDoubled();
    const Story story = search.Tell();
    EXPECT_EQ(story.calls, undisturbed.calls);
    EXPECT_EQ(story.evaluations, undisturbed.evaluations);
    EXPECT_EQ(story.tree, undisturbed.tree);
    EXPECT_EQ(story.gains, undisturbed.gains);
    EXPECT_EQ(story.best, undisturbed.best);
    EXPECT_EQ(story.reason, undisturbed.reason);
    EXPECT_EQ(story.state, undisturbed.state);
    lost_calls += search.LostCalls();
    ++searches;
  }
  EXPECT_GE(kills, wanted);
  std::printf(
      "%s: %d kills in %d searches of %zu calls, %zu jobs and %d events (%s); %d sent again\n",
      GetParam().name, kills, searches, undisturbed.calls.size(), undisturbed.evaluations.size(),
      events, absl::FormatDuration(time).c_str(), lost_calls);
  std::fflush(stdout);
}

INSTANTIATE_TEST_SUITE_P(Each, StrategyCrashTest, testing::ValuesIn(kArms),
                         [](const auto& arm) { return arm.param.name; });

}  // namespace
}  // namespace ksearch

// kill -9 of the coordinator while it reserves, sends, reads and settles a model call: cost is
// never undercounted, and an answered call is not sent again.
//
// KSEARCH_KILLS: kills at each moment (default 2; `ctest --preset crash`: 20).
#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/rng.h"
#include "common/textproto.h"
#include "coordinator/store/store.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/paying_server.h"

namespace ksearch {
namespace {

// The bill for one answered request, at the prices given below.
constexpr int64_t kInputTokens = 900;
constexpr int64_t kOutputTokens = 400;
constexpr int64_t kBilled = kInputTokens * 1000 + kOutputTokens * 10'000;  // nano-dollars

int Kills() {
  const char* given = std::getenv("KSEARCH_KILLS");
  int kills = 2;
  if (given != nullptr && !absl::SimpleAtoi(given, &kills)) std::abort();
  return kills;
}

void Spin(int microseconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < until) {
  }
}

// A chunk of a streamed reply.
std::string Chunk(const std::string& choice, const std::string& more = "") {
  return absl::StrCat(R"(data: {"id":"x","model":"m","choices":[)", choice, "]", more, "}\n\n");
}

class MoneyCrashTest : public testing::Test {
 protected:
  MoneyCrashTest()
      : server_([this](const std::string& body) { return Reply(body); },
                [this](PayingServer::Moment moment) { OnMoment(moment); }) {
    const auto init = ReadFile(LocalCluster::SourcePath("tests/integration/data/softmax/init.md"),
                               int64_t{1} << 20);
    if (!init.ok()) std::abort();
    init_ = *init;
  }

  // The first question of a run is answered; the next one is refused, which ends the run.
  std::string Reply(const std::string& body) {
    if (body.find("<file path=") != std::string::npos ||
        body.find(first_words_) == std::string::npos) {
      return "";
    }
    std::string text;
    google::protobuf::Value value;
    value.set_string_value(init_);
    if (!google::protobuf::util::MessageToJsonString(value, &text).ok()) std::abort();
    return absl::StrCat(Chunk(absl::StrCat(R"({"delta":{"content":)", text, "}}")),
                        Chunk(R"({"delta":{},"finish_reason":"stop"})"),
                        Chunk("", absl::StrCat(R"(,"usage":{"prompt_tokens":)", kInputTokens,
                                               R"(,"completion_tokens":)", kOutputTokens, "}")),
                        "data: [DONE]\n\n");
  }
  void OnMoment(PayingServer::Moment moment) {
    if (!armed_ || moment != kill_at_) return;
    armed_ = false;
    Spin(spin_us_);
    cluster_.Kill("coordinator");
    killed_ = true;
  }
  void StartCoordinator() {
    cluster_.StartCoordinator(absl::StrCat(
        "providers { name: 'paid' openai_chat { base_url: '", server_.url(),
        "' default_model: 'm' } prices { model: 'm' rates { input: '1' output: '10' } } "
        "retry { max_attempts: 1 } }\n"));
  }
  CommandOutput StartRun(int number) {
    return cluster_.Cli(
        {"run", "--task", "softmax_rows_f32", "--rounds", "2", "--provider", "paid", "--budget-usd",
         "5", "--seed", absl::StrCat(number), "--detach", "--without-workers"},
        absl::Seconds(20));
  }
  void AwaitEnd(const std::string& run) { cluster_.Cli({"watch", run}, absl::Seconds(60)); }
  // Opens the store of a coordinator that is not running.
  std::unique_ptr<Store> OpenStore() {
    Store::Options options;
    options.path = cluster_.folder() + "/state/ksearch.db";
    auto store = Store::Open(options);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  int Requests() {
    int all = 0;
    for (const auto& [body, times] : server_.requests()) all += times;
    return all;
  }

  // Runs in the coordinator's database, as seen from outside.
  int64_t RunsStored() const {
    sqlite3* database = nullptr;
    sqlite3_stmt* count = nullptr;
    int64_t runs = 0;
    const std::string path = cluster_.folder() + "/state/ksearch.db";
    if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
        sqlite3_prepare_v2(database, "SELECT count(*) FROM runs", -1, &count, nullptr) ==
            SQLITE_OK &&
        sqlite3_step(count) == SQLITE_ROW) {
      runs = sqlite3_column_int64(count, 0);
    }
    sqlite3_finalize(count);
    sqlite3_close(database);
    return runs;
  }
  void KillOnceRunIsStored(int64_t runs_before, int then_us) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (RunsStored() <= runs_before && std::chrono::steady_clock::now() < give_up) {
    }
    Spin(then_us);
    cluster_.Kill("coordinator");
  }

  // `at` absent: up to 10 ms after the run was created, while it reserves and notes that it sends.
  void KillEveryTime(std::optional<PayingServer::Moment> at) {
    Rng rng(at.has_value() ? static_cast<uint64_t>(*at) + 1 : 100);
    StartCoordinator();
    int reached = 0, sent = 0, settled = 0, again = 0;
    for (int kill = 1; kill <= Kills(); ++kill) {
      SCOPED_TRACE(absl::StrCat("kill ", kill));
      const int asked_before = Requests();
      killed_ = false;
      if (at.has_value()) {
        kill_at_ = *at;
        // After the whole reply is out: anywhere between reading it and the next commits.
        spin_us_ =
            *at == PayingServer::Moment::kReplied ? static_cast<int>(rng.NextBelow(8'000)) : 0;
        armed_ = true;
        CommandOutput started = StartRun(kill);
        // A loaded machine may be too slow for the connection; then nothing was requested.
        for (int i = 0; i < 5 && started.exit.code == 5 && !killed_; ++i) started = StartRun(kill);
        for (int i = 0; i < 2000 && !killed_; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        ASSERT_TRUE(killed_) << started.out << started.err << cluster_.Log("coordinator");
      } else {
        const int64_t runs_before = RunsStored();
        std::thread starter([&] { StartRun(kill); });
        KillOnceRunIsStored(runs_before, static_cast<int>(rng.NextBelow(10'000)));
        starter.join();
      }

      std::string run;
      bool answered = false;
      {
        const auto store = OpenStore();
        ASSERT_NE(store, nullptr);
        const auto newest = store->ResolveRun("last");
        if (newest.ok()) run = *newest;
        if (!run.empty() && store->ReadRun(run)->config.seed() != static_cast<uint64_t>(kill)) {
          run.clear();  // an earlier one
        }
        if (!run.empty()) {
          const auto call = store->ReadCall(run + "/1");
          answered = call.ok() && call->answered;
          const LedgerRow ledger = store->ReadLedger(run)->front();
          // Counted already, as spent or as reserved: all that was asked.
          EXPECT_GE(ledger.nano_spent + ledger.nano_reserved,
                    (Requests() - asked_before) * kBilled);
        }
      }
      if (run.empty()) {  // killed before the run existed
        EXPECT_EQ(Requests(), asked_before);
        StartCoordinator();
        continue;
      }
      ++reached;
      const int asked_at_kill = Requests();
      sent += asked_at_kill - asked_before;
      settled += answered ? 1 : 0;
      StartCoordinator();
      AwaitEnd(run);
      EXPECT_EQ(cluster_.Stop("coordinator"), 0);
      {
        const auto store = OpenStore();
        ASSERT_NE(store, nullptr);
        const auto call = store->ReadCall(run + "/1");
        ASSERT_TRUE(call.ok()) << call.status();
        EXPECT_TRUE(call->answered);
        EXPECT_EQ(call->cost_nano, kBilled);
        if (answered) {
          EXPECT_EQ(Requests(), asked_at_kill) << "answered, and asked again";
        }
        const int asked = Requests() - asked_before;
        EXPECT_GE(asked, 1);
        EXPECT_LE(asked, 1 + call->lost_sends);
        again += asked - 1;
        const LedgerRow ledger = store->ReadLedger(run)->front();
        EXPECT_GE(ledger.nano_spent, asked * kBilled);
        // The second request may also have reached the server before the kill.
        const auto second = store->ReadCall(run + "/2");
        const int64_t also = second.ok() ? second->cost_nano + second->lost_nano : 0;
        EXPECT_EQ(ledger.nano_spent, call->cost_nano + call->lost_nano + also);
        EXPECT_EQ(ledger.nano_reserved, 0);
      }
      StartCoordinator();
    }
    EXPECT_GE(reached, 1);
    std::printf(
        "%d kills: %d runs there, %d requests sent before, %d replies stored, %d sent again\n",
        Kills(), reached, sent, settled, again);
  }

  const std::string first_words_ = "softmax";
  std::string init_;
  LocalCluster cluster_;
  std::atomic<bool> armed_{false};
  std::atomic<bool> killed_{false};
  std::atomic<int> spin_us_{0};
  std::atomic<PayingServer::Moment> kill_at_{PayingServer::Moment::kReceived};
  PayingServer server_;  // last: its thread uses the others
};

TEST_F(MoneyCrashTest, WhileReserving) { KillEveryTime(std::nullopt); }
TEST_F(MoneyCrashTest, WhileSending) { KillEveryTime(PayingServer::Moment::kReceived); }
TEST_F(MoneyCrashTest, WhileStreaming) { KillEveryTime(PayingServer::Moment::kHalf); }
TEST_F(MoneyCrashTest, WhileSettling) { KillEveryTime(PayingServer::Moment::kReplied); }

}  // namespace
}  // namespace ksearch

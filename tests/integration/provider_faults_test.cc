// A failing provider from the user's point of view: the messages, how soon they come, and that
// nothing written contains the key.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/fault_server.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kKey[] = "sk-verysecret-0123456789abcdef";
constexpr char kAgentKey[] = "agent-verysecret-0123456789abcdef";

Fault Reply(int status, const std::string& body) {
  return {.silence = {}, .bytes = HttpReply(status, body), .padding_bytes = 0, .hold = false};
}

// Answers by the requested model. Replies contain the key wherever a server might repeat it.
Fault Answer(const std::string& request) {
  const auto asks = [&](const char* model) {
    return request.find(absl::StrCat("\"model\":\"", model, "\"")) != std::string::npos;
  };
  if (asks("gone")) return Reply(404, R"({"error":{"message":"no such model"}})");
  if (asks("poor")) {
    return Reply(429, R"({"error":{"message":"no credit","code":"insufficient_quota"}})");
  }
  if (asks("talker")) {
    return Reply(200, absl::StrCat(R"({"choices":[{"finish_reason":"stop","message":{"content":)",
                                   R"("no tree, but your key: )", kKey, R"("}}]})"));
  }
  if (asks("garbler")) return Reply(200, absl::StrCat("<html>you sent ", kKey));
  return Reply(401, absl::StrCat(R"({"error":{"message":"no such key: )", kKey, R"("}})"));
}

class ProviderFaultsTest : public testing::Test {
 protected:
  ProviderFaultsTest() : server_([](const std::string& request, int) { return Answer(request); }) {
    // Outside the cluster's folder, all of which is searched for the key.
    key_file_ = absl::StrCat(testing::TempDir(), "/provider_faults_key");
    std::ofstream(key_file_) << kKey;
    cluster_.SetEnvironment("AGENT_API_KEY", kAgentKey);
    Start();
  }
  ~ProviderFaultsTest() override { std::filesystem::remove(key_file_); }

  void Start(const std::string& more = "") {
    const std::string shell =
        "command { environment: ['PATH', 'AGENT_API_KEY'] argv: ['/bin/sh', '-c', ";
    cluster_.StartCoordinator(absl::StrCat(
        "providers { name: 'wrong' openai_chat { base_url: '", server_.origin(),
        "/v1' api_key_file: '", key_file_, "' default_model: 'm' } retry { max_attempts: 2 ",
        "first_delay { nanos: 1000000 } } }\n",
        "providers { name: 'nobody' openai_chat { base_url: 'http://127.0.0.1:9/v1' ",
        "default_model: 'm' } retry { max_attempts: 1 } }\n",
        "providers { name: 'keyless' anthropic { api_key_env: 'KSEARCH_NO_SUCH_KEY' } }\n",
        "providers { name: 'agent' ", shell,
        "'echo OK, as $AGENT_API_KEY; echo by $AGENT_API_KEY >&2'] } }\n",
        "providers { name: 'crasher' ", shell,
        "'echo no credit for $AGENT_API_KEY >&2; exit 3'] } retry { max_attempts: 1 } }\n",
        "providers { name: 'people' mailbox {} }\n", more));
  }
  CommandOutput Run(const std::string& provider, const std::string& model = "m") {
    return cluster_.Cli({"run", "--task", "softmax_rows_f32", "--provider", provider, "--model",
                         model, "--rounds", "20", "--without-workers"});
  }
  // Starts a run, and stops it when it has asked `calls` times.
  std::string RunCalls(const std::string& provider, const std::string& model, int calls) {
    EXPECT_EQ(cluster_
                  .Cli({"run", "--task", "softmax_rows_f32", "--provider", provider, "--model",
                        model, "--detach", "--without-workers"})
                  .exit.code,
              0);
    v1::RunStatus status;
    EXPECT_TRUE(Eventually([&] {
      status.Clear();
      const std::string json = cluster_.Cli({"status", "last", "--json"}).out;
      return google::protobuf::util::JsonStringToMessage(json, &status).ok() &&
             (status.llm_calls() >= calls || status.state() == v1::RUN_STATE_FAILED);
    })) << provider;
    cluster_.Cli({"stop", status.run_id()});
    return status.run_id();
  }

  static std::string Content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void ExpectNoKeyWritten(int at_least) const {
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cluster_.folder())) {
      if (!entry.is_regular_file() || entry.path().parent_path().filename() == "bin") continue;
      const std::string text = Content(entry.path());
      EXPECT_EQ(text.find("verysecret"), std::string::npos) << entry.path();
      EXPECT_EQ(text.find("0123456789abcdef"), std::string::npos) << entry.path();
      ++files;
    }
    EXPECT_GE(files, at_least);
  }

  FaultServer server_;
  std::string key_file_;
  LocalCluster cluster_;
};

TEST_F(ProviderFaultsTest, AWrongKeyEndsTheRunAtOnceAndIsWrittenNowhere) {
  const CommandOutput run = Run("wrong");
  EXPECT_EQ(run.exit.code, 4);
  EXPECT_THAT(run.out + run.err, HasSubstr("check the API key in file"));
  EXPECT_THAT(run.out + run.err, Not(HasSubstr("verysecret")));
  EXPECT_EQ(server_.requests(), 1);
  ExpectNoKeyWritten(3);  // database, its log, the coordinator's log
}

TEST_F(ProviderFaultsTest, TheExitCodeTellsWhoHasToAct) {
  const struct {
    const char* provider;
    const char* model;
    int exit_code;
    const char* says;
  } cases[] = {
      {"wrong", "gone", 3, "check model \"gone\" and base_url"},
      {"wrong", "poor", 5, "add credit or raise the provider's limit, then resume the run"},
      {"nobody", "m", 5, "is the server running and base_url right?"},
      {"crasher", "m", 5, "exit code 3"},
      {"keyless", "m", 3, "KSEARCH_NO_SUCH_KEY is not set"},
  };
  for (const auto& c : cases) {
    const CommandOutput run = Run(c.provider, c.model);
    EXPECT_EQ(run.exit.code, c.exit_code) << c.provider << " " << c.model << run.err;
    EXPECT_THAT(run.out + run.err, HasSubstr(c.says)) << c.provider << " " << c.model;
    // Watching it later prints the same, if a run was started at all.
    if (std::string(c.provider) == "keyless") continue;
    EXPECT_EQ(cluster_.Cli({"watch", "last"}).exit.code, c.exit_code);
  }
  ExpectNoKeyWritten(3);
}

// Replies that hold keys, unreadable ones, agents, mailboxes, recordings.
TEST_F(ProviderFaultsTest, NoModeOfAskingWritesTheKey) {
  const std::string talker = RunCalls("wrong", "talker", 2);
  RunCalls("wrong", "garbler", 2);
  const std::string agent = RunCalls("agent", "m", 2);
  RunCalls("crasher", "m", 2);
  RunCalls("people", "any", 1);
  ASSERT_TRUE(Eventually([&] {
    return cluster_.Cli({"mailbox", "list"}).out.find("init") != std::string::npos;
  }));
  const std::string cassette = cluster_.folder() + "/talker.jsonl";
  EXPECT_EQ(cluster_.Cli({"export", talker, "--cassette", cassette}).exit.code, 0);
  EXPECT_EQ(
      cluster_.Cli({"export", agent, "--cassette", cluster_.folder() + "/agent.jsonl"}).exit.code,
      0);
  EXPECT_THAT(Content(cassette), HasSubstr("no tree, but your key: [key]"));
  ASSERT_EQ(cluster_.Stop("coordinator"), 0);
  // Unreadable replies are kept, too.
  EXPECT_THAT(Content(cluster_.folder() + "/state/ksearch.db"), HasSubstr("<html>you sent [key]"));
  Start(absl::StrCat("providers { name: 'recorded' replay { cassette: '", cassette, "' } }\n"));
  EXPECT_NE(
      cluster_
          .Cli({"run", "--like-cassette", cassette, "--provider", "recorded", "--effort", "high"})
          .exit.code,
      0);
  const CommandOutput doctor = cluster_.Cli({"doctor", "--provider", "recorded"});
  EXPECT_EQ(doctor.exit.code, 0);
  EXPECT_THAT(doctor.out, HasSubstr(absl::StrCat("calls of run ", talker, " are recorded")));
  ExpectNoKeyWritten(8);  // database and its log, the coordinator's, two cassettes, prompts
}

TEST_F(ProviderFaultsTest, DoctorMakesOneCallAndSaysWhatToDo) {
  CommandOutput doctor = cluster_.Cli({"doctor", "--provider", "wrong"});
  EXPECT_EQ(doctor.exit.code, 3);
  EXPECT_THAT(doctor.out, HasSubstr("FIX"));
  EXPECT_THAT(doctor.out, HasSubstr("HTTP 401"));
  EXPECT_THAT(doctor.out, HasSubstr("-> check the API key in file"));
  EXPECT_EQ(server_.requests(), 1);
  doctor = cluster_.Cli({"doctor", "--provider", "keyless"});
  EXPECT_EQ(doctor.exit.code, 3);
  EXPECT_THAT(doctor.out, HasSubstr("KSEARCH_NO_SUCH_KEY is not set"));
  doctor = cluster_.Cli({"doctor"});
  EXPECT_EQ(doctor.exit.code, 3);
  EXPECT_THAT(doctor.out,
              testing::AllOf(HasSubstr("FIX   provider keyless: "),
                             HasSubstr("KSEARCH_NO_SUCH_KEY is not set"),
                             HasSubstr("ok    provider wrong: configured"),
                             HasSubstr("no worker is ready"), HasSubstr("note  this machine (")));
  doctor = cluster_.Cli({"doctor", "--provider", "absent"});
  EXPECT_EQ(doctor.exit.code, 3);
  EXPECT_THAT(doctor.out, HasSubstr("known: "));
  doctor = cluster_.Cli({"doctor", "--provider", "agent"});
  EXPECT_EQ(doctor.exit.code, 0);
  EXPECT_THAT(doctor.out, HasSubstr("OK, as [AGENT_API_KEY]"));
  doctor = cluster_.Cli({"doctor", "--provider", "crasher"});
  EXPECT_EQ(doctor.exit.code, 3);
  EXPECT_THAT(doctor.out, HasSubstr("no credit for [AGENT_API_KEY]"));
  doctor = cluster_.Cli({"doctor", "--provider", "people"});
  EXPECT_EQ(doctor.exit.code, 0);
  EXPECT_THAT(doctor.out, HasSubstr("prompts go to "));
  ExpectNoKeyWritten(3);
}

}  // namespace
}  // namespace ksearch

#include "coordinator/llm/command/command_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <future>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/textproto.h"
#include "coordinator/llm/command/command_json.h"
#include "tests/fakes/eventually.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;

CommandOptions Shell(const std::string& script) {
  CommandOptions options;
  options.argv = {"/bin/sh", "-c", script};
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  options.max_attempts = 1;
  options.retry_delay = absl::Milliseconds(1);
  return options;
}

LlmRequest Request() {
  LlmRequest request;
  request.call_id = "r/1";
  request.system = "rules";
  request.user = "question";
  return request;
}

absl::StatusOr<LlmReply> Ask(CommandOptions options, LlmRequest request = Request()) {
  CommandClient client(std::move(options));
  std::promise<absl::StatusOr<LlmReply>> reply;
  client.Complete(std::move(request),
                  [&](absl::StatusOr<LlmReply> result) { reply.set_value(std::move(result)); });
  return reply.get_future().get();
}

TEST(CommandClient, PromptOnStandardInputReplyOnStandardOutput) {
  const auto reply = Ask(Shell("echo ignored >&2; tr a-z A-Z"));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->text, "RULES\n\nQUESTION");
  EXPECT_EQ(reply->finish_reason, "stop");
  EXPECT_EQ(reply->model, "command");
}

TEST(CommandClient, PromptOfAnySizePassesThroughStandardInput) {
  LlmRequest request = Request();
  request.user = std::string(3 << 20, 'x');
  const auto reply = Ask(Shell("wc -c"), request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_THAT(reply->text, HasSubstr(absl::StrCat(request.user.size() + 7)));
}

TEST(CommandClient, PlaceholdersAreReplaced) {
  CommandOptions options = Shell("cat \"$1\" \"$2\"; echo \" $3 $4 $5 $6\"; cat");
  for (const char* argument : {"sh", "{system_file}", "{prompt_file}", "{model}", "{effort}",
                               "n={max_output_tokens}", "{call_id}"}) {
    options.argv.push_back(argument);
  }
  LlmRequest request = Request();
  request.model = "m";
  request.reasoning_effort = "high";
  request.max_output_tokens = 7;
  EXPECT_EQ(Ask(options, request)->text, "rulesquestion m high n=7 r/1\n");
}

TEST(CommandClient, OnlyTheAllowedEnvironmentAndAFolderOfItsOwn) {
  ::setenv("KSEARCH_TEST_SECRET", "do-not-pass", 1);
  CommandOptions options = Shell("env; pwd; ls -A | wc -l");
  options.environment["GIVEN"] = "yes";
  const auto reply = Ask(options);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_THAT(reply->text, HasSubstr("GIVEN=yes"));
  EXPECT_THAT(reply->text, Not(HasSubstr("do-not-pass")));
  EXPECT_THAT(reply->text, HasSubstr("/tmp/ksearch-command-"));
  EXPECT_THAT(reply->text, HasSubstr("\n0\n"));
}

TEST(CommandClient, FailureTellsExitCodeAndLastWordsWithoutSecrets) {
  CommandOptions options = Shell("echo \"bad key $AGENT_API_KEY\" >&2; exit 9");
  options.environment["AGENT_API_KEY"] = "sk-very-secret";
  const auto reply = Ask(options);
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kUnavailable);
  const std::string message(reply.status().message());
  EXPECT_THAT(message, HasSubstr("exit code 9"));
  EXPECT_THAT(message, HasSubstr("bad key [AGENT_API_KEY]"));
  EXPECT_THAT(message, Not(HasSubstr("sk-very-secret")));
}

TEST(CommandClient, FailuresAreTriedAgainAsOftenAsAsked) {
  std::string folder = "/tmp/ksearch-command-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  CommandOptions options = Shell(absl::StrCat("echo x >> ", folder, "/tries; test $(wc -l < ",
                                              folder, "/tries) = 3 && echo reply"));
  options.max_attempts = 3;
  const auto reply = Ask(options);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->text, "reply\n");
  std::filesystem::remove_all(folder);
}

TEST(CommandClient, WhatCannotBeStartedIsTerminal) {
  CommandOptions options = Shell("");
  options.argv = {"/no/such/program"};
  EXPECT_EQ(Ask(options).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Ask(Shell("no-such-program-here")).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(CommandClient, TimeoutKillsTheWholeGroup) {
  std::string folder = "/tmp/ksearch-command-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  CommandOptions options =
      Shell(absl::StrCat("sleep 1000 & echo $! > ", folder, "/pid; echo thinking >&2; wait"));
  std::string said;
  // A busy machine may need longer until the program prints anything.
  for (options.timeout = absl::Milliseconds(700); said.find("thinking") == std::string::npos;
       options.timeout *= 3) {
    ASSERT_LT(options.timeout, absl::Minutes(1)) << said;
    const auto reply = Ask(options);
    ASSERT_EQ(reply.status().code(), absl::StatusCode::kDeadlineExceeded);
    said = std::string(reply.status().message());
  }
  int pid = 0;
  ASSERT_TRUE(absl::SimpleAtoi(*ReadFile(folder + "/pid", 100), &pid));
  EXPECT_TRUE(Eventually([&] {
    // The process is gone, or waits for its new parent to reap it.
    const auto stat = ReadFile(absl::StrCat("/proc/", pid, "/stat"), 4096);
    return !stat.ok() || stat->find(") Z") != std::string::npos;
  }));
  std::filesystem::remove_all(folder);
}

TEST(CommandClient, GrandchildThatKeepsTheOutputOpenIsNotWaitedFor) {
  const absl::Time start = Clock::Real().SteadyNow();
  const auto reply = Ask(Shell("sleep 1000 & echo reply"));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->text, "reply\n");
  EXPECT_LT(Clock::Real().SteadyNow() - start, absl::Seconds(60));
}

TEST(CommandClient, OutputIsBounded) {
  CommandOptions options = Shell("yes");
  options.max_reply_bytes = 1 << 20;
  const auto reply = Ask(options);
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(reply.status().message()), HasSubstr("max_reply_bytes"));
}

TEST(CommandClient, NoReplyIsAnError) {
  EXPECT_EQ(Ask(Shell("echo")).status().code(), absl::StatusCode::kDataLoss);
}

TEST(CommandClient, ShutDownEndsWhatRunsAndWhatWaits) {
  CommandOptions options = Shell("sleep 1000");
  options.max_concurrency = 1;
  std::promise<absl::Status> ends[2];
  {
    CommandClient client(options);
    for (auto& end : ends) {
      client.Complete(Request(),
                      [&end](absl::StatusOr<LlmReply> reply) { end.set_value(reply.status()); });
    }
  }
  for (auto& end : ends) {
    EXPECT_EQ(end.get_future().get().code(), absl::StatusCode::kCancelled);
  }
}

TEST(CommandJson, ReadsWhatAgentsPrint) {
  const auto reply = ParseCommandJson(
      R"({"type":"result","is_error":false,"result":"code","usage":{"input_tokens":5,)"
      R"("cache_read_input_tokens":7,"output_tokens":3}})");
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->text, "code");
  EXPECT_EQ(reply->usage.input(), 12);
  EXPECT_EQ(reply->usage.output(), 3);
  EXPECT_TRUE(reply->usage_reported);
  EXPECT_EQ(ParseCommandJson(R"({"response":"x"})")->text, "x");
  EXPECT_EQ(ParseCommandJson(R"({"is_error":true,"result":"no credit"})").status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(ParseCommandJson("text").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ParseCommandJson("{}").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ParseCommandJson(R"({"result":3})").status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace ksearch

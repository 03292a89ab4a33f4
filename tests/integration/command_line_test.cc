// The command line against a live coordinator: messages, exit codes and output that programs read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "proto/search_service.pb.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// One coordinator with one worker and one finished run for all tests of this file.
class CommandLineTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster_ = new LocalCluster();
    cluster_->UseOwnDevice();
    cluster_->StartModelServer(
        LocalCluster::SourcePath("tests/integration/data/softmax.cassette.textproto"));
    cluster_->StartCoordinator();
    cluster_->StartWorker("w1");
    first_run_ = new CommandOutput(cluster_->Cli(RunArgs()));
    // "run softmax_rows_f32-1a2b3c (leaving ..."
    const std::vector<std::string> words = absl::StrSplit(first_run_->out, absl::MaxSplits(' ', 2));
    ASSERT_EQ(words.size(), 3u) << first_run_->out << first_run_->err;
    run_id_ = new std::string(words[1]);
  }
  static void TearDownTestSuite() {
    delete run_id_;
    delete first_run_;
    delete cluster_;
    run_id_ = nullptr;
    first_run_ = nullptr;
    cluster_ = nullptr;
  }

  static std::vector<std::string> RunArgs(std::vector<std::string> extra = {}) {
    std::vector<std::string> args = {
        "run",
        "--task",
        "softmax_rows_f32",
        "--rounds",
        "2",
        "--config",
        LocalCluster::SourcePath("tests/integration/data/quick_run.textproto")};
    args.insert(args.end(), extra.begin(), extra.end());
    return args;
  }
  // `ksearch args...` as a shell's words, with what follows: redirections, pipes.
  static CommandOutput Shell(const std::string& args, const std::string& rest) {
    return RunProgram({"/bin/sh", "-c",
                       absl::StrCat(cluster_->BinaryPath("ksearch"), " --coordinator ",
                                    cluster_->address(), " ", args, " ", rest)});
  }
  static void Expect(const std::vector<std::string>& args, int code,
                     const testing::Matcher<std::string>& err) {
    const CommandOutput output = cluster_->Cli(args);
    EXPECT_EQ(output.exit.code, code) << absl::StrJoin(args, " ") << "\n" << output.err;
    EXPECT_THAT(output.err, err) << absl::StrJoin(args, " ");
  }

  static LocalCluster* cluster_;
  static CommandOutput* first_run_;  // what it printed
  static std::string* run_id_;
};

LocalCluster* CommandLineTest::cluster_ = nullptr;
CommandOutput* CommandLineTest::first_run_ = nullptr;
std::string* CommandLineTest::run_id_ = nullptr;

TEST_F(CommandLineTest, WhatIsNotThereGivesTheSameCodeEverywhere) {
  for (const char* command : {"status", "best", "tree", "log", "watch", "stop", "resume"}) {
    Expect({command, "nosuch"}, 3, HasSubstr("nosuch"));
  }
  Expect({"show", "nosuch", "c"}, 3, HasSubstr("nosuch"));
  Expect({"show", *run_id_, "nosuch"}, 3, HasSubstr("nosuch"));
  Expect({"workers", "--drain", "nosuch"}, 3, HasSubstr("nosuch"));
}

TEST_F(CommandLineTest, CommandLineErrorsGive2) {
  Expect({"frobnicate"}, 2, AllOf(HasSubstr("no command 'frobnicate'"), HasSubstr("doctor")));
  Expect({"token", "frob"}, 2, AllOf(HasSubstr("no command 'token frob'"), HasSubstr("revoke")));
  Expect({}, 2, AllOf(HasSubstr("a command is missing"), HasSubstr("eval")));
  Expect({"mailbox"}, 2, AllOf(HasSubstr("a command is missing"), HasSubstr("answer")));
  Expect({"status", "--frob"}, 2, HasSubstr("--frob"));
  Expect({"eval", "x.cpp"}, 2, HasSubstr("--task"));
  Expect({"run"}, 2, HasSubstr("task is missing"));
  Expect({"pki", "issue"}, 2, AllOf(HasSubstr("--server"), HasSubstr("--worker")));
}

TEST_F(CommandLineTest, AddressesThatCannotBeDialledAreUsageErrors) {
  const std::string ksearch = cluster_->BinaryPath("ksearch");
  for (const char* address : {"127.0.0.1:99999", "127.0.0.1:0", "127.0.0.1", "::1:7400", ":7400",
                              "host:port", "host:-1", "unix:"}) {
    const CommandOutput output = RunProgram({ksearch, "--coordinator", address, "status"});
    EXPECT_EQ(output.exit.code, 2) << address;
    EXPECT_THAT(output.err,
                AllOf(HasSubstr("--coordinator"), HasSubstr(address), HasSubstr("1 to 65535")));
  }
}

TEST_F(CommandLineTest, RunsThatNobodyCanJudgeAreRefusedBeforeAModelIsAsked) {
  const auto runs = [] {
    return FromJson<v1::ListRunsReply>(cluster_->Cli({"status", "--json"}).out).runs_size();
  };
  const int before = runs();
  // There is one worker, for C++.
  const std::vector<std::string> cuda = {"run", "--task", "rmsnorm_bf16", "--wait-for-workers",
                                         "0.3"};
  Expect(cuda, 3,
         AllOf(HasSubstr("waiting up to 300ms"),
               HasSubstr("no connected worker can judge cuda candidates"),
               HasSubstr("--wait-for-workers 10m"), HasSubstr("--without-workers")));
  EXPECT_EQ(runs(), before);
  Expect({"run", "--task", "rmsnorm_bf16", "--wait-for-workers", "1", "--without-workers"}, 2,
         HasSubstr("--without-workers"));
  Expect({"run", "--task", "rmsnorm_bf16", "--wait-for-workers", "soon"}, 2, HasSubstr("'soon'"));
  const CommandOutput started =
      cluster_->Cli({"run", "--task", "rmsnorm_bf16", "--without-workers", "--detach"});
  EXPECT_EQ(started.exit.code, 0) << started.err;
  EXPECT_EQ(runs(), before + 1);
  EXPECT_EQ(cluster_->Cli({"stop", "last"}).exit.code, 0);
}

TEST_F(CommandLineTest, OutputThatCannotBeWrittenIsAnError) {
  for (const char* args : {"best RUN --source", "status --json", "log RUN", "--help", "--version",
                           "tasks", "watch RUN", "export RUN --cassette -"}) {
    const CommandOutput output =
        Shell(absl::StrReplaceAll(args, {{"RUN", *run_id_}}), "> /dev/full");
    EXPECT_EQ(output.exit.code, 1) << args;
    EXPECT_THAT(output.err, testing::ContainsRegex("write|written")) << args;
  }
  // A token that nobody could read is not made.
  const std::string tokens = cluster_->folder() + "/unread.textproto";
  const CommandOutput token =
      Shell(absl::StrCat("token --token-db ", tokens, " create --role read"), "> /dev/full");
  EXPECT_EQ(token.exit.code, 1);
  EXPECT_FALSE(std::filesystem::exists(tokens));
  // A reader that leaves early is no error of anybody's.
  EXPECT_EQ(Shell(absl::StrCat("log ", *run_id_), "| head -n 1").exit.code, 0);
}

}  // namespace
}  // namespace ksearch

// The command line against a live coordinator: messages, exit codes and output that programs read.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/textproto.h"
#include "common/unique_fd.h"
#include "google/protobuf/struct.pb.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
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
    WriteDocumentedTask(cluster_->folder() + "/tasks");
    // Beside bin/, where the coordinator looks for the built-in tasks.
    std::filesystem::create_directory(cluster_->folder() + "/configs");
    std::filesystem::create_directory_symlink(LocalCluster::SourcePath("configs/tasks"),
                                              cluster_->folder() + "/configs/tasks");
    // A mailbox, which never answers unless a person does.
    cluster_->StartCoordinator("providers { name: \"people\" mailbox {} }\n",
                               cluster_->folder() + "/tasks");
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

  // The files that docs/task_format.md shows under "A whole task": each block after a line that
  // names it.
  static void WriteDocumentedTask(const std::string& folder) {
    std::ifstream page(LocalCluster::SourcePath("docs/task_format.md"));
    std::string line, name, content;
    bool inside = false;
    while (std::getline(page, line)) {
      if (absl::StartsWith(line, "```")) {
        if (inside && !name.empty()) {
          const std::filesystem::path path = folder + "/" + name;
          std::filesystem::create_directories(path.parent_path());
          std::ofstream(path) << content;
        }
        if (inside) name.clear();
        content.clear();
        inside = !inside;
      } else if (inside) {
        absl::StrAppend(&content, line, "\n");
      } else if (absl::StartsWith(line, "`scale_columns_f32/") && absl::EndsWith(line, "`")) {
        name = line.substr(1, line.size() - 2);
      }
    }
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
  Expect({"workers", "--drain", ""}, 2, HasSubstr("the worker's id is empty"));
}

TEST_F(CommandLineTest, CommandLineErrorsGive2) {
  Expect({"frobnicate"}, 2, AllOf(HasSubstr("no command 'frobnicate'"), HasSubstr("doctor")));
  Expect({"run", "frob"}, 2, HasSubstr("no command 'run frob'"));
  Expect({"run", "--task", "t", "--rouns", "2"}, 2,
         AllOf(HasSubstr("--rouns"), Not(HasSubstr("no command"))));
  Expect({"token", "frob"}, 2, AllOf(HasSubstr("no command 'token frob'"), HasSubstr("revoke")));
  Expect({}, 2, AllOf(HasSubstr("a command is missing"), HasSubstr("eval")));
  Expect({"mailbox"}, 2, AllOf(HasSubstr("a command is missing"), HasSubstr("answer")));
  Expect({"status", "--frob"}, 2, HasSubstr("--frob"));
  Expect({"eval", "x.cpp"}, 2, HasSubstr("--task"));
  Expect({"run"}, 2, HasSubstr("task is missing"));
  Expect({"pki", "issue"}, 2, AllOf(HasSubstr("--server"), HasSubstr("--worker")));
}

TEST_F(CommandLineTest, AddressesThatCannotBeDialedAreUsageErrors) {
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

TEST_F(CommandLineTest, JsonIsOneDocumentOrJsonLines) {
  const std::string tokens = cluster_->folder() + "/tokens.textproto";
  const std::string pki = cluster_->folder() + "/pki";
  const auto document = [](const CommandOutput& output) {
    EXPECT_EQ(output.exit.code, 0) << output.err;
    return FromJson<google::protobuf::Value>(output.out);
  };
  const auto made = document(
      cluster_->Cli({"token", "--token-db", tokens, "create", "--role", "read", "--json"}));
  const auto& token = made.struct_value().fields();
  EXPECT_THAT(token.at("token").string_value(), testing::StartsWith("ks_read_"));
  const std::string id = token.at("token_id").string_value();
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"token", "--token-db", tokens, "list"},
           {"token", "--token-db", tokens, "revoke", id},
           {"pki", "--ca-dir", pki, "init"},
           {"pki", "--ca-dir", pki, "issue", "--worker", "w"},
           {"status"},
           {"status", *run_id_},
           {"tree", *run_id_},
           {"best", *run_id_, "--source"},
           {"tasks"},
           {"workers"},
           {"mailbox", "list"},
           {"run", "--task", "softmax_rows_f32", "--dry-run"},
           {"export", *run_id_, "--cassette", cluster_->folder() + "/json.jsonl"},
           {"stop", *run_id_}}) {
    std::vector<std::string> with_json = args;
    with_json.push_back("--json");
    SCOPED_TRACE(absl::StrJoin(with_json, " "));
    document(cluster_->Cli(with_json));
  }
  EXPECT_EQ(FromJson<google::protobuf::Value>(cluster_->Cli({"doctor", "--json"}).out).kind_case(),
            google::protobuf::Value::kListValue);

  // An evaluation with its profile: the result's own fields, and the packet beside them.
  const std::string program =
      LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32/baseline.cpp");
  const auto eval = document(
      cluster_->Cli({"eval", "--task", "softmax_rows_f32", "--profile", "--json", program}));
  EXPECT_EQ(eval.struct_value().fields().at("outcome").string_value(), "OUTCOME_PASSED");
  EXPECT_TRUE(eval.struct_value().fields().contains("packet"));
}

TEST_F(CommandLineTest, WatchPrintsJsonLinesFromStatusToStatus) {
  const CommandOutput output = cluster_->Cli({"watch", *run_id_, "--json"});
  const std::vector<std::string> lines = absl::StrSplit(output.out, '\n', absl::SkipEmpty());
  ASSERT_GE(lines.size(), 4u);
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto line = FromJson<v1::WatchRunReply>(lines[i]);
    const bool end = i == 0 || i + 1 == lines.size();
    EXPECT_EQ(line.has_status(), end) << lines[i];
    EXPECT_EQ(line.has_event(), !end) << lines[i];
    EXPECT_EQ(line.status().run_id(), end ? *run_id_ : "") << lines[i];
  }
}

TEST_F(CommandLineTest, LogThatFollowsEndsWithTheRun) {
  const CommandOutput log = cluster_->Cli({"log", *run_id_, "--limit", "1000000"});
  const CommandOutput followed = cluster_->Cli({"log", "-f", *run_id_, "--limit", "1000000"});
  EXPECT_EQ(followed.exit.code, 0) << followed.err;
  EXPECT_EQ(followed.out, log.out);
}

TEST_F(CommandLineTest, DoctorLooksAtEveryMachineThatTakesPart) {
  const CommandOutput doctor = cluster_->Cli({"doctor"});
  EXPECT_EQ(doctor.exit.code, 0) << doctor.out;
  EXPECT_THAT(
      doctor.out,
      AllOf(HasSubstr("ok    provider scripted: configured, model scripted; not called"),
            HasSubstr("ok    worker w1: healthy, sandbox bubblewrap"), HasSubstr(": judges cpp\n"),
            HasSubstr("ok    1 worker ready"), HasSubstr("note  no worker judges cuda candidates"),
            HasSubstr("note  this machine (")));
  // No coordinator answers, but the state of this machine is reported nevertheless.
  const CommandOutput alone =
      RunProgram({cluster_->BinaryPath("ksearch"), "--coordinator", "127.0.0.1:9", "doctor"});
  EXPECT_EQ(alone.exit.code, 3);
  EXPECT_THAT(alone.out, AllOf(HasSubstr("FIX   coordinator: "), HasSubstr("g++")));
}

TEST_F(CommandLineTest, TheDocumentedTaskCanBeUsed) {
  const auto tasks = FromJson<v1::ListTasksReply>(cluster_->Cli({"tasks", "--json"}).out);
  EXPECT_GT(tasks.tasks_size(), 5) << "the built-in ones are there, too";
  for (const v1::TaskSummary& task : tasks.tasks()) EXPECT_EQ(task.error(), "") << task.name();
  // Of one task, also what its programs receive and return.
  EXPECT_FALSE(tasks.tasks(0).has_definition());
  const std::string shown = cluster_->Cli({"task", "show", "softmax_rows_f32"}).out;
  for (const char* row :
       {"\nrows +axis +by workload +independent rows\n",
        "\nx +input +float32\\[rows, cols\\] +logits\n", "\ny +output +float32\\[rows, cols\\]",
        "\nr256_c256 +rows=256 cols=256", "held out\n"}) {
    EXPECT_THAT(shown, ContainsRegex(row));
  }
  const CommandOutput eval =
      cluster_->Cli({"eval", "--task", "scale_columns_f32",
                     cluster_->folder() + "/tasks/scale_columns_f32/baseline.cpp"});
  EXPECT_EQ(eval.exit.code, 0) << eval.err;
  EXPECT_THAT(eval.out, AllOf(HasSubstr("passed"), HasSubstr("r512_c512")));
}

TEST_F(CommandLineTest, ShowPrintsThePromptAndThePlanningCalls) {
  const auto log = cluster_->Cli({"log", *run_id_, "--json"}).out;
  std::string candidate;
  for (const absl::string_view line : absl::StrSplit(log, '\n', absl::SkipEmpty())) {
    const auto event = FromJson<v1::RunEvent>(std::string(line));
    if (event.kind() == v1::RunEvent::CANDIDATE_PROPOSED) candidate = event.candidate_id();
  }
  ASSERT_FALSE(candidate.empty()) << log;
  const std::string shown = cluster_->Cli({"show", *run_id_, candidate}).out;
  EXPECT_THAT(shown, AllOf(HasSubstr("---- kernel.cpp\n"), HasSubstr("---- prompt of call "),
                           HasSubstr("ksearch_task.h"), HasSubstr("planned by these calls"),
                           HasSubstr("(init, ")));
  EXPECT_THAT(shown, Not(HasSubstr("---- reply\n")));
  const std::string whole = cluster_->Cli({"show", *run_id_, candidate, "--calls"}).out;
  EXPECT_THAT(whole, AllOf(HasSubstr("---- reply\n"), HasSubstr("\"node_id\": \"vector_exp\"")));
  EXPECT_GT(whole.size(), shown.size() + 1000);
}

TEST_F(CommandLineTest, LogSaysWhatItLeavesOut) {
  const CommandOutput two = cluster_->Cli({"log", *run_id_, "--limit", "2"});
  EXPECT_THAT(two.err, AllOf(HasSubstr("earlier lines are left out"), HasSubstr("--limit ")));
  EXPECT_EQ(std::count(two.out.begin(), two.out.end(), '\n'), 2);
  EXPECT_EQ(cluster_->Cli({"log", *run_id_}).err, "");
}

TEST_F(CommandLineTest, StatusTellsOneCountOfTokens) {
  const std::string text = cluster_->Cli({"status", *run_id_}).out;
  const auto status = FromJson<v1::RunStatus>(cluster_->Cli({"status", *run_id_, "--json"}).out);
  EXPECT_THAT(text, HasSubstr(absl::StrCat("tokens: ", status.input_tokens(), " + ",
                                           status.output_tokens(), " reported by the providers")));
  EXPECT_EQ(text.find(" tokens;"), std::string::npos) << text;
}

TEST_F(CommandLineTest, ExportOverwritesOnlyWhenForced) {
  const std::string file = cluster_->folder() + "/kept.jsonl";
  std::ofstream(file) << "precious";
  Expect({"export", *run_id_, "--cassette", file}, 3, AllOf(HasSubstr(file), HasSubstr("--force")));
  EXPECT_EQ(std::filesystem::file_size(file), 8u);
  Expect({"export", *run_id_, "--cassette", file, "--force"}, 0, HasSubstr("calls"));
  EXPECT_GT(std::filesystem::file_size(file), 100u);
}

TEST_F(CommandLineTest, AnInterruptSaysThatTheRunGoesOnAndAPipedRunSaysWhereItStands) {
  // Nobody answers its prompt, so it waits until it is interrupted.
  const std::string err_path = cluster_->folder() + "/interrupted.err";
  UniqueFd err(::open(err_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  UniqueFd out(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  SubprocessOptions options;
  options.argv = {cluster_->BinaryPath("ksearch"),
                  "--coordinator",
                  cluster_->address(),
                  "run",
                  "--task",
                  "softmax_rows_f32",
                  "--provider",
                  "people",
                  "--model",
                  "m",
                  "--progress",
                  "0.2"};
  options.inherited_fds = {{out.get(), 1}, {err.get(), 2}};
  auto process = Subprocess::Start(options);
  ASSERT_TRUE(process.ok()) << process.status();
  const auto said = [&] { return ReadFile(err_path, 1 << 20).value_or(""); };
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(said(), "running  0/20 rounds"); }))
      << said();
  ::kill((*process)->pid(), SIGINT);
  const auto exit = (*process)->Wait(Clock::Real().SteadyNow() + absl::Seconds(30));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 130);
  EXPECT_THAT(said(), HasSubstr("continues and keeps spending; to stop it: ksearch stop "));
  const CommandOutput stopped = cluster_->Cli({"stop", "last"});
  EXPECT_THAT(stopped.out, HasSubstr("stopped")) << "it was running until now";
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
  // A reader that closes the pipe early is not an error.
  EXPECT_EQ(Shell(absl::StrCat("log ", *run_id_), "| head -n 1").exit.code, 0);
}

}  // namespace
}  // namespace ksearch

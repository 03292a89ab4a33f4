// `ksearch up`, `down` and --local with the real programs, as a new user types them: without any
// handwritten file, and with nothing running before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "google/protobuf/struct.pb.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/fault_server.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kSecret[] = "sk-a-secret-of-the-user";

class LocalModeTest : public testing::Test {
 protected:
  LocalModeTest() : state_(cluster_.folder() + "/state") {
    // Beside bin/, where the coordinator looks for tasks and prices.
    std::filesystem::create_directory_symlink(LocalCluster::SourcePath("configs"),
                                              cluster_.folder() + "/configs");
    const char* path = ::getenv("PATH");
    environment_ = {{"PATH", path == nullptr ? "" : path}, {"HOME", cluster_.folder()}};
  }
  ~LocalModeTest() override {
    if (HasFailure()) {
      for (const char* log : {"/coordinator.log", "/worker.log"}) {
        std::fprintf(stderr, "---- %s\n%s\n", log, Read(state_ + log).c_str());
      }
    }
    Ksearch({"down", "--now"});
  }

  CommandOutput Ksearch(std::vector<std::string> args) const {
    SubprocessOptions options;
    options.argv = {cluster_.BinaryPath("ksearch"), "--state-dir", state_};
    options.argv.insert(options.argv.end(), args.begin(), args.end());
    options.environment = environment_;
    auto output = RunCommand(options, absl::Minutes(10), int64_t{64} << 20);
    EXPECT_TRUE(output.ok()) << output.status();
    EXPECT_TRUE(!output.ok() || !output->timed_out);
    return output.ok() ? *std::move(output) : CommandOutput{};
  }
  struct Pair {
    int coordinator = 0;
    int worker = 0;
    bool coordinator_started = false;
    bool worker_started = false;
    std::string text;
  };
  Pair Up() const {
    const CommandOutput output = Ksearch({"up", "--json"});
    EXPECT_EQ(output.exit.code, 0) << output.out << output.err;
    const auto json = FromJson<google::protobuf::Struct>(output.out);
    const auto& fields = json.fields();
    if (fields.count("coordinator_pid") == 0 || fields.count("worker_pid") == 0) return {};
    EXPECT_TRUE(fields.at("ready").bool_value());
    return {static_cast<int>(fields.at("coordinator_pid").number_value()),
            static_cast<int>(fields.at("worker_pid").number_value()),
            fields.at("coordinator_started").bool_value(), fields.at("worker_started").bool_value(),
            output.out};
  }
  static std::string Read(const std::string& path) {
    return ReadFile(path, int64_t{64} << 20).value_or("");
  }
  static mode_t Mode(const std::string& path) {
    struct stat facts = {};
    EXPECT_EQ(::stat(path.c_str(), &facts), 0) << path;
    return facts.st_mode & 0777;
  }
  static void KillAndAwait(int pid) {
    ASSERT_GT(pid, 1);
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    // Its new parent may be slow to reap it; it no longer holds a lock.
    ASSERT_TRUE(Eventually([pid] {
      const std::string status = Read(absl::StrCat("/proc/", pid, "/stat"));
      return status.empty() || status.find(") Z ") != std::string::npos;
    }));
  }
  void UseModelServer() {
    cluster_.StartModelServer(
        LocalCluster::SourcePath("tests/integration/data/softmax.cassette.textproto"));
    const std::string port = Read(cluster_.folder() + "/model.port");
    environment_["KSEARCH_MODEL_URL"] =
        absl::StrCat("http://127.0.0.1:", port.substr(0, port.find('\n')));
  }
  // Adds a task to the folder that `ksearch up` names for the user's own tasks.
  void AddSmallTask() const {
    std::filesystem::copy(
        LocalCluster::SourcePath("tests/integration/data/tasks/small_softmax_f32"),
        state_ + "/tasks/small_softmax_f32", std::filesystem::copy_options::recursive);
  }
  std::vector<std::string> RunArgs() const {
    return {"run",          "--local",
            "--task",       "softmax_rows_f32",
            "--model",      "local/scripted-softmax",
            "--rounds",     "6",
            "--stagnation", "2",
            "--config",     LocalCluster::SourcePath("tests/integration/data/quick_run.textproto")};
  }
  v1::RunStatus LastRun() const {
    return FromJson<v1::RunStatus>(Ksearch({"status", "last", "--local", "--json"}).out);
  }

  LocalCluster cluster_;
  const std::string state_;
  std::map<std::string, std::string> environment_;
};

TEST_F(LocalModeTest, UpStartsAPairThatIsUsedAndStopped) {
  EXPECT_EQ(Ksearch({"up", "--status"}).exit.code, 5);
  EXPECT_FALSE(std::filesystem::exists(state_)) << "asking leaves nothing behind";
  EXPECT_THAT(Ksearch({"down"}).out, HasSubstr("coordinator did not run"));

  const CommandOutput first = Ksearch({"up"});
  ASSERT_EQ(first.exit.code, 0) << first.out << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("cpp builds"), HasSubstr("export ANTHROPIC_API_KEY="),
                               HasSubstr("; ready\n"), HasSubstr("unix:" + state_ + "/socket"),
                               HasSubstr("page     http://127.0.0.1:"), HasSubstr("/#token="),
                               HasSubstr("What to do next:")));
  const bool as_root = ::geteuid() == 0;
  EXPECT_EQ(Mode(state_), as_root ? 0710u : 0700u);
  EXPECT_EQ(Mode(state_ + "/socket"), as_root ? 0660u : 0600u);
  EXPECT_EQ(Mode(state_ + "/coordinator/page_url"), 0600u);

  const Pair again = Up();
  EXPECT_FALSE(again.coordinator_started);
  EXPECT_FALSE(again.worker_started);
  EXPECT_EQ(::getsid(again.coordinator), again.coordinator) << "it outlives the terminal";
  EXPECT_EQ(::getsid(again.worker), again.worker);
  const CommandOutput status = Ksearch({"up", "--status"});
  EXPECT_EQ(status.exit.code, 0) << status.out << status.err;
  EXPECT_THAT(status.out, AllOf(HasSubstr(absl::StrCat("process ", again.worker)),
                                HasSubstr("judges cpp"), Not(HasSubstr("What to do next"))));

  AddSmallTask();
  EXPECT_THAT(Ksearch({"tasks", "--local"}).out, HasSubstr("small_softmax_f32"));
  const CommandOutput eval = Ksearch(
      {"eval", "--local", "--json", "--task", "small_softmax_f32",
       LocalCluster::SourcePath("tests/integration/data/tasks/small_softmax_f32/baseline.cpp")});
  EXPECT_EQ(eval.exit.code, 0) << eval.out << eval.err;
  EXPECT_EQ(FromJson<v1::JobResult>(eval.out).outcome(), v1::OUTCOME_PASSED);
  const CommandOutput wrong =
      Ksearch({"eval", "--local", "--task", "small_softmax_f32",
               LocalCluster::SourcePath("tests/bad_candidates/cpu/softmax_rows_f32/zeros.cpp")});
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;

  const CommandOutput down = Ksearch({"down"});
  EXPECT_EQ(down.exit.code, 0) << down.out << down.err;
  EXPECT_EQ(down.out, "worker stopped, coordinator stopped\n");
  EXPECT_EQ(Ksearch({"up", "--status"}).exit.code, 5);
  EXPECT_EQ(Ksearch({"down"}).out, "worker did not run, coordinator did not run\n");
}

TEST_F(LocalModeTest, RunStartsThePairByItselfAndFindsAFasterKernel) {
  UseModelServer();
  const CommandOutput tasks = Ksearch({"tasks", "--local"});
  ASSERT_EQ(tasks.exit.code, 0) << tasks.err;
  EXPECT_THAT(tasks.err, HasSubstr("started a coordinator and a worker"));
  const CommandOutput run = Ksearch(RunArgs());
  EXPECT_EQ(run.exit.code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("over the baseline"));
  EXPECT_THAT(run.err, Not(HasSubstr("started a"))) << "the pair was there";
  EXPECT_EQ(LastRun().provider(), "local");
  EXPECT_TRUE(LastRun().has_best());
}

TEST_F(LocalModeTest, KilledPairIsStartedAgainAndTheRunFinishes) {
  UseModelServer();
  const Pair first = Up();
  std::vector<std::string> args = RunArgs();
  args.emplace_back("--detach");
  ASSERT_EQ(Ksearch(args).exit.code, 0);
  KillAndAwait(first.coordinator);
  ASSERT_TRUE(std::filesystem::exists(state_ + "/socket")) << "a stale socket is left";

  const Pair second = Up();
  EXPECT_TRUE(second.coordinator_started);
  EXPECT_NE(second.coordinator, first.coordinator);
  EXPECT_FALSE(second.worker_started);
  EXPECT_EQ(second.worker, first.worker) << "the worker came back to the new coordinator";
  const CommandOutput watch = Ksearch({"watch", "last", "--local"});
  // A disturbed measurement may be left undecided.
  EXPECT_THAT(watch.exit.code, AnyOf(0, 7)) << watch.out << watch.err;
  EXPECT_EQ(LastRun().state(), v1::RUN_STATE_FINISHED);

  // As after a crash of the machine: both gone, locks, ids and socket left behind.
  KillAndAwait(second.worker);
  KillAndAwait(second.coordinator);
  const Pair third = Up();
  EXPECT_TRUE(third.coordinator_started);
  EXPECT_TRUE(third.worker_started);
  EXPECT_EQ(Ksearch({"down"}).out, "worker stopped, coordinator stopped\n");
}

TEST_F(LocalModeTest, KeysReachTheCoordinatorAndNothingElse) {
  const Pair without = Up();
  EXPECT_THAT(without.text, HasSubstr("OPENAI_API_KEY is not set"));
  environment_["OPENAI_API_KEY"] = kSecret;
  const Pair pair = Up();
  EXPECT_TRUE(pair.coordinator_started) << "it had nothing to do, and lacked the key";
  EXPECT_FALSE(pair.worker_started);
  EXPECT_THAT(pair.text, HasSubstr("key in OPENAI_API_KEY"));
  const auto process = [](int pid, const std::string& file) {
    return Read(absl::StrCat("/proc/", pid, "/", file));
  };
  EXPECT_THAT(process(pair.coordinator, "environ"), HasSubstr(kSecret));
  EXPECT_THAT(process(pair.coordinator, "cmdline"), Not(HasSubstr(kSecret)));
  EXPECT_THAT(process(pair.worker, "environ"), Not(HasSubstr(kSecret)));
  int files = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(state_)) {
    if (!file.is_regular_file()) continue;
    ++files;
    EXPECT_THAT(Read(file.path().string()), Not(HasSubstr(kSecret))) << file.path();
  }
  EXPECT_GE(files, 6);

  // Another terminal, with another key: the pair keeps the first one.
  environment_.erase("OPENAI_API_KEY");
  environment_["ANTHROPIC_API_KEY"] = kSecret;
  const Pair other = Up();
  EXPECT_FALSE(other.coordinator_started);
  EXPECT_THAT(other.text, HasSubstr("a restart would lose openai"));
  const CommandOutput run = Ksearch({"run", "--local", "--dry-run", "--task", "matmul_f32",
                                     "--price", "any=1,1", "--model", "openai/any"});
  EXPECT_EQ(run.exit.code, 0) << run.err;
  const CommandOutput refused =
      Ksearch({"run", "--local", "--dry-run", "--task", "matmul_f32", "--model", "anthropic/any"});
  EXPECT_EQ(refused.exit.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("a restart would lose openai"));
}

TEST_F(LocalModeTest, ModelThatCannotBeHadIsRefusedBeforeAnythingStarts) {
  const auto run = [this](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"run", "--local", "--task", "softmax_rows_f32"};
    args.insert(args.end(), more.begin(), more.end());
    return Ksearch(args);
  };
  const CommandOutput no_key = run({"--model", "openai/gpt-5.2", "--budget-usd", "5"});
  EXPECT_EQ(no_key.exit.code, 3);
  EXPECT_THAT(no_key.err, HasSubstr("export OPENAI_API_KEY="));
  const CommandOutput unknown = run({"--model", "opneai/gpt-5.2"});
  EXPECT_EQ(unknown.exit.code, 3);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("'opneai'"), HasSubstr("openai (OPENAI_API_KEY)")));
  EXPECT_THAT(run({"--model", "gpt-5.2"}).err, HasSubstr("PROVIDER/NAME"));
  EXPECT_THAT(run({}).err, HasSubstr("--model PROVIDER/NAME"));
  EXPECT_THAT(run({"--provider", "gemini", "--model", "x"}).err, HasSubstr("GEMINI_API_KEY"));
  EXPECT_FALSE(std::filesystem::exists(state_ + "/coordinator.log")) << "nothing was started";
}

// Each fault is one line, and the search continues without what it does not need.
TEST_F(LocalModeTest, FolderOfASinkThatCannotBeWrittenIsSaidAndTheSearchGoesOn) {
  UseModelServer();
  std::ofstream(cluster_.folder() + "/file") << "no folder";
  const std::string sink = cluster_.folder() + "/file/wandb";
  const CommandOutput up = Ksearch({"up", "--sink", "wandb:" + sink});
  EXPECT_EQ(up.exit.code, 0) << up.err;
  EXPECT_THAT(up.out,
              HasSubstr(absl::StrCat("sink wandb: ", sink,
                                     " cannot be written: Not a directory; runs continue")));
  const CommandOutput run = Ksearch(RunArgs());
  EXPECT_THAT(run.exit.code, AnyOf(0, 7)) << run.err;
  EXPECT_EQ(LastRun().state(), v1::RUN_STATE_FINISHED);
  EXPECT_THAT(Read(state_ + "/coordinator.log"),
              AllOf(HasSubstr("the sink cannot write; runs continue, and it tries again"),
                    HasSubstr("Not a directory")));
  EXPECT_EQ(Ksearch({"up", "--sink", "none"}).exit.code, 0);
  EXPECT_THAT(Ksearch({"up", "--status"}).out, Not(HasSubstr("cannot be written")));
}

TEST_F(LocalModeTest, TaskForADeviceThatIsNotHereIsRefusedInOneLine) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is a GPU";
  UseModelServer();
  Up();
  const std::string program =
      LocalCluster::SourcePath("configs/tasks/cuda/rmsnorm_bf16/baseline.cu");
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"eval", "--local", "--task", "rmsnorm_bf16", program},
        {"run", "--local", "--task", "rmsnorm_bf16", "--model", "local/scripted"}}) {
    const CommandOutput output = Ksearch(args);
    EXPECT_EQ(output.exit.code, 3);
    EXPECT_THAT(output.err, AllOf(HasSubstr("no connected worker can judge cuda candidates"),
                                  HasSubstr("What this machine lacks: ksearch up --status"),
                                  Not(HasSubstr("ksearch-worker"))));
    const std::string fault = output.err.substr(output.err.find("ksearch: "));
    EXPECT_EQ(std::count(fault.begin(), fault.end(), '\n'), 1) << output.err;
  }
  EXPECT_THAT(Ksearch({"up", "--status"}).out, HasSubstr("there is no GPU"));
  const CommandOutput of_suite =
      Ksearch({"eval", "--local", "--task", "kernelbench/l1/23", program});
  EXPECT_EQ(of_suite.exit.code, 3);
  EXPECT_THAT(of_suite.err, HasSubstr("need a coordinator with --suite"));
}

TEST_F(LocalModeTest, KeyThatIsRefusedEndsTheRunWithOneLine) {
  FaultServer server([](const std::string&, int) {
    return Fault{.silence = {},
                 .bytes = HttpReply(401, R"({"error":{"message":"Incorrect API key provided"}})"),
                 .padding_bytes = 0,
                 .hold = false};
  });
  environment_["KSEARCH_MODEL_URL"] = server.origin() + "/v1";
  const CommandOutput run = Ksearch(RunArgs());
  EXPECT_EQ(run.exit.code, 4);
  const size_t fault = run.err.find("ksearch: run softmax_rows_f32-");
  ASSERT_NE(fault, std::string::npos) << run.err;
  EXPECT_THAT(run.err.substr(fault),
              AllOf(HasSubstr("failed: the model cannot be used"), HasSubstr("HTTP 401"),
                    HasSubstr("Incorrect API key provided")));
  EXPECT_EQ(std::count(run.err.begin() + static_cast<ptrdiff_t>(fault), run.err.end(), '\n'), 1)
      << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("(0 passed), 1 model call\n"),
                             Not(HasSubstr("Incorrect API key provided"))))
      << "neither the events nor the summary repeat it";
  EXPECT_THAT(run.err, Not(HasSubstr("UNAUTHENTICATED")));
  // With a server that accepts the key, the same run continues.
  UseModelServer();
  EXPECT_EQ(Ksearch({"up"}).exit.code, 0);
  EXPECT_EQ(Ksearch({"resume", "last", "--local"}).exit.code, 0);
  EXPECT_THAT(Ksearch({"watch", "last", "--local"}).exit.code, AnyOf(0, 7));
  EXPECT_EQ(LastRun().state(), v1::RUN_STATE_FINISHED);
}

TEST_F(LocalModeTest, ProgramThatDoesNotStartIsShownWithItsLog) {
  std::ofstream(state_ + ".sh") << "#!/bin/sh\necho 'the disk is on fire' >&2\nexit 3\n";
  std::filesystem::permissions(state_ + ".sh", std::filesystem::perms(0755));
  std::filesystem::rename(state_ + ".sh", cluster_.BinaryPath("ksearch-coordinator"));
  const CommandOutput up = Ksearch({"up"});
  EXPECT_EQ(up.exit.code, 3);
  EXPECT_THAT(up.err, AllOf(HasSubstr("ended with code 3"), HasSubstr(state_ + "/coordinator.log"),
                            HasSubstr("the disk is on fire")));
}

TEST_F(LocalModeTest, ImpossibleArgumentsAreUsageErrors) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"status", "--local", "--coordinator", "127.0.0.1:1"},
        {"up", "--coordinator=127.0.0.1:1"},
        {"status"},  // --state-dir without --local
        {"token", "list", "--local"},
        {"down", "--now", "--wait", "5"}}) {
    EXPECT_EQ(Ksearch(args).exit.code, 2) << args[0];
  }
  // The environment may name another coordinator.
  environment_["KSEARCH_COORDINATOR"] = "127.0.0.1:1";
  EXPECT_EQ(Ksearch({"down"}).exit.code, 0);
}

}  // namespace
}  // namespace ksearch

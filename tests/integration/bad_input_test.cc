// Common mistakes: each gives one clear line and a stable exit code.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/unique_fd.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class BadInputTest : public testing::Test {
 protected:
  CommandOutput Coordinator(std::vector<std::string> args) {
    std::vector<std::string> argv = {cluster_.BinaryPath("ksearch-coordinator"), "--listen",
                                     "127.0.0.1:0", "--task-dir",
                                     LocalCluster::SourcePath("configs/tasks")};
    argv.insert(argv.end(), args.begin(), args.end());
    return RunProgram(argv);
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = cluster_.folder() + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  // The one line on stderr that is not a log line.
  static void ExpectOneLine(const CommandOutput& output, int code,
                            const testing::Matcher<std::string>& text) {
    EXPECT_EQ(output.exit.code, code) << output.err;
    EXPECT_THAT(output.err, text);
    EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1) << output.err;
  }
  // A copy of the softmax task that the test may break.
  std::string CopyTask() {
    const std::string to = cluster_.folder() + "/tasks/cpu/softmax_rows_f32";
    std::filesystem::create_directories(cluster_.folder() + "/tasks/cpu");
    std::filesystem::copy(LocalCluster::SourcePath("configs/tasks/cpu/softmax_rows_f32"), to,
                          std::filesystem::copy_options::recursive);
    return to;
  }
  static void Replace(const std::string& path, const std::string& from, const std::string& to) {
    std::ifstream in(path);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << path << " has no " << from;
    text.replace(at, from.size(), to);
    std::ofstream(path) << text;
  }

  LocalCluster cluster_;
};

TEST_F(BadInputTest, UnknownConfigFieldNamesFileAndLine) {
  const std::string config = Write("bad.textproto", "state_dir: \"x\"\nstate_dirs: \"y\"\n");
  ExpectOneLine(Coordinator({"--config", config}), 3,
                AllOf(HasSubstr("bad.textproto:2"), HasSubstr("state_dirs")));
}

TEST_F(BadInputTest, UnknownArgumentIsNamed) {
  ExpectOneLine(Coordinator({"--stat-dir", "x"}), 2, HasSubstr("--stat-dir"));
}

TEST_F(BadInputTest, WorkerConfigWithUnknownFieldNamesFileAndLine) {
  const std::string config = Write("worker.textproto", "slots: 2\nslotz: 3\n");
  ExpectOneLine(
      RunProgram({cluster_.BinaryPath("ksearch-worker"), "--config", config, "--coordinator",
                  "127.0.0.1:9", "--state-dir", cluster_.folder() + "/w"}),
      3, AllOf(HasSubstr("worker.textproto:2"), HasSubstr("slotz")));
}

TEST_F(BadInputTest, WorkerWithoutCoordinatorAddressSaysSo) {
  ExpectOneLine(
      RunProgram({cluster_.BinaryPath("ksearch-worker"), "--state-dir", cluster_.folder() + "/w"}),
      3, HasSubstr("coordinator"));
}

TEST_F(BadInputTest, MissingCompilerIsNamed) {
  const std::string config =
      Write("worker.textproto",
            "toolchains { language: LANGUAGE_CPP compiler_path: \"/nonexistent/g++-99\" }\n");
  ExpectOneLine(
      RunProgram({cluster_.BinaryPath("ksearch-worker"), "--config", config, "--coordinator",
                  "127.0.0.1:9", "--state-dir", cluster_.folder() + "/w"}),
      3, HasSubstr("/nonexistent/g++-99"));
}

TEST_F(BadInputTest, PortInUseIsSaid) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  struct sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(socket.get(), 1), 0);
  socklen_t size = sizeof address;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const std::string listen = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  const CommandOutput output =
      Coordinator({"--listen", listen, "--state-dir", cluster_.folder() + "/s"});
  EXPECT_EQ(output.exit.code, 3);
  EXPECT_THAT(output.err, HasSubstr(absl::StrCat("cannot listen on ", listen)));
  const CommandOutput page =
      Coordinator({"--dashboard", listen, "--state-dir", cluster_.folder() + "/s"});
  EXPECT_EQ(page.exit.code, 3);
  EXPECT_THAT(page.err,
              AllOf(HasSubstr(absl::StrCat("cannot serve the page at ", listen, ": port ")),
                    HasSubstr("is taken. Give another with --dashboard")));
}

// gRPC by itself would take the socket away from the first one.
TEST_F(BadInputTest, SocketInUseIsSaidAndTheCoordinatorThereKeepsIt) {
  const std::string path = cluster_.folder() + "/socket";
  const std::string tasks = LocalCluster::SourcePath("configs/tasks");
  cluster_.Start("first", {cluster_.BinaryPath("ksearch-coordinator"), "--listen", "unix:" + path,
                           "--state-dir", cluster_.folder() + "/first", "--task-dir", tasks});
  const auto answers = [&] {
    return RunProgram({cluster_.BinaryPath("ksearch"), "--coordinator", "unix:" + path, "status"})
               .exit.code == 0;
  };
  const absl::Time give_up = absl::Now() + absl::Minutes(1);
  while (!answers()) {
    ASSERT_LT(absl::Now(), give_up) << cluster_.Log("first");
    absl::SleepFor(absl::Milliseconds(100));
  }
  const auto start = [&](const std::string& socket) {
    return Coordinator({"--listen", "unix:" + socket, "--state-dir", cluster_.folder() + "/s"});
  };
  ExpectOneLine(
      start(path), 3,
      AllOf(HasSubstr("cannot listen on unix:" + path), HasSubstr("a process listens there")));
  EXPECT_TRUE(answers());
  // After a crash the next one takes the socket over.
  cluster_.Kill("first");
  cluster_.Start("second", {cluster_.BinaryPath("ksearch-coordinator"), "--listen", "unix:" + path,
                            "--state-dir", cluster_.folder() + "/first", "--task-dir", tasks});
  while (!answers()) {
    ASSERT_LT(absl::Now(), give_up) << cluster_.Log("second");
    absl::SleepFor(absl::Milliseconds(100));
  }
  const std::string file = cluster_.folder() + "/file";
  std::ofstream(file) << "text";
  ExpectOneLine(start(file), 3, HasSubstr("a file that is not a socket has that name"));
  ExpectOneLine(start("/not/there/socket"), 3,
                HasSubstr("write to the folder /not/there/: No such file or directory"));
  ExpectOneLine(start("/tmp/" + std::string(200, 'x')), 3, HasSubstr("107 characters at most"));
}

// The remains of a coordinator that was killed.
TEST_F(BadInputTest, SocketOfACoordinatorThatIsGoneIsSaid) {
  const std::string path = cluster_.folder() + "/socket";
  {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    ASSERT_LT(path.size(), sizeof address.sun_path);
    path.copy(address.sun_path, path.size());
    ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  ExpectOneLine(
      RunProgram({cluster_.BinaryPath("ksearch"), "--coordinator", "unix:" + path, "status"}), 5,
      AllOf(HasSubstr("unix:" + path), HasSubstr("--coordinator")));
}

TEST_F(BadInputTest, MissingTaskFolderIsNamed) {
  ExpectOneLine(Coordinator({"--task-dir", "/nonexistent/tasks"}), 3,
                AllOf(HasSubstr("/nonexistent/tasks"), HasSubstr("--task-dir")));
}

TEST_F(BadInputTest, NoTasksAtAllIsRefused) {
  const std::string config = Write("none.textproto", "without_built_in_tasks: true\n");
  ExpectOneLine(RunProgram({cluster_.BinaryPath("ksearch-coordinator"), "--config", config,
                            "--listen", "127.0.0.1:0", "--state-dir", cluster_.folder() + "/s"}),
                3, HasSubstr("without_built_in_tasks needs task_dirs"));
}

TEST_F(BadInputTest, NonLoopbackAddressIsRefused) {
  ExpectOneLine(Coordinator({"--listen", "0.0.0.0:7400"}), 3, HasSubstr("not a loopback address"));
}

TEST_F(BadInputTest, NewerDatabaseIsRefusedUntouched) {
  cluster_.StartCoordinator();
  cluster_.Stop("coordinator");
  const std::string path = cluster_.folder() + "/state/ksearch.db";
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "PRAGMA user_version = 9999", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  ExpectOneLine(Coordinator({"--state-dir", cluster_.folder() + "/state"}), 3,
                AllOf(HasSubstr("9999"), HasSubstr("ksearch.db")));
}

TEST_F(BadInputTest, FileThatIsNoDatabaseIsRefusedUntouched) {
  const std::string text = "these are somebody's notes, and long enough to look like a file";
  Write("state/ksearch.db", text);
  ExpectOneLine(Coordinator({"--state-dir", cluster_.folder() + "/state"}), 3,
                HasSubstr("ksearch.db"));
  std::ifstream in(cluster_.folder() + "/state/ksearch.db");
  EXPECT_EQ(std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>()),
            text);
}

TEST_F(BadInputTest, StateFolderThatCannotBeMadeIsNamed) {
  ExpectOneLine(Coordinator({"--state-dir", "/proc/nowhere/state"}), 3,
                HasSubstr("/proc/nowhere/state"));
}

TEST_F(BadInputTest, SecondCoordinatorOnTheSameStateIsRefused) {
  cluster_.StartCoordinator();
  ExpectOneLine(Coordinator({"--state-dir", cluster_.folder() + "/state"}), 3,
                HasSubstr("another coordinator"));
}

TEST_F(BadInputTest, UnreachableCoordinatorSaysWhatToDo) {
  const CommandOutput output =
      RunProgram({cluster_.BinaryPath("ksearch"), "--coordinator", "127.0.0.1:9", "status"});
  ExpectOneLine(output, 5, AllOf(HasSubstr("127.0.0.1:9"), HasSubstr("--coordinator")));
}

TEST_F(BadInputTest, UsageErrorsExitWith2) {
  const std::string ksearch = cluster_.BinaryPath("ksearch");
  EXPECT_EQ(RunProgram({ksearch}).exit.code, 2);
  EXPECT_EQ(RunProgram({ksearch, "frobnicate"}).exit.code, 2);
  EXPECT_EQ(RunProgram({ksearch, "run", "--rounds", "many"}).exit.code, 2);
  EXPECT_EQ(RunProgram({ksearch, "run", "--language", "cobol"}).exit.code, 2);
  EXPECT_EQ(RunProgram({ksearch, "best"}).exit.code, 2);
}

TEST_F(BadInputTest, DaemonsTellUsageFromConfiguration) {
  const std::string coordinator = cluster_.BinaryPath("ksearch-coordinator");
  ExpectOneLine(RunProgram({coordinator, "--frobnicate", "1"}), 2,
                AllOf(HasSubstr("unknown argument --frobnicate"), HasSubstr("--state-dir")));
  ExpectOneLine(RunProgram({coordinator, "--config"}), 2,
                HasSubstr("argument --config needs a value"));
  ExpectOneLine(RunProgram({coordinator, "--listen", "nowhere"}), 2,
                AllOf(HasSubstr("--listen"), HasSubstr("'nowhere'")));
  const std::string worker = cluster_.BinaryPath("ksearch-worker");
  ExpectOneLine(RunProgram({worker, "--coordinator", "127.0.0.1:7400", "--frobnicate", "1"}), 2,
                HasSubstr("unknown argument --frobnicate"));
  ExpectOneLine(RunProgram({worker, "--coordinator", "127.0.0.1:7400", "--slots", "0"}), 2,
                HasSubstr("--slots: '0'"));
  const std::string config = Write("worker.textproto", "slots: -3\n");
  ExpectOneLine(RunProgram({worker, "--coordinator", "127.0.0.1:7400", "--config", config}), 3,
                HasSubstr("slots: -3"));
}

TEST_F(BadInputTest, ZerosAndNegativesAreRefused) {
  const std::string ksearch = cluster_.BinaryPath("ksearch");
  for (const char* flag : {"--rounds", "--parallel", "--stagnation", "--seed"}) {
    for (const char* value : {"0", "-1", "1.5", "99999999999999999999"}) {
      const CommandOutput output =
          RunProgram({ksearch, "run", "--task", "matmul_f32", flag, value});
      EXPECT_EQ(output.exit.code, 2) << flag << " " << value;
      EXPECT_THAT(output.err, AllOf(HasSubstr(flag), HasSubstr(absl::StrCat("'", value, "'")),
                                    HasSubstr("whole number from 1 to")));
    }
  }
  for (const auto& args :
       std::vector<std::vector<std::string>>{{"resume", "last", "--rounds", "0"},
                                             {"tree", "last", "--revision", "-1"},
                                             {"log", "last", "--limit", "0"},
                                             {"run", "--task", "t", "--max-llm-calls", "0"},
                                             {"run", "--task", "t", "--max-wall-time", "-5"}}) {
    std::vector<std::string> argv = {ksearch};
    argv.insert(argv.end(), args.begin(), args.end());
    const CommandOutput output = RunProgram(argv);
    EXPECT_EQ(output.exit.code, 2) << args[2];
    EXPECT_THAT(output.err, HasSubstr(args[args.size() - 2]));
  }
}

TEST_F(BadInputTest, ImpossibleRunDefaultsAreRefusedAtStart) {
  const std::string config = Write("defaults.textproto",
                                   "run_defaults { provider: \"nobody\" rounds: -5 parallel: 9999 "
                                   "budget { usd: \"much\" } }\n");
  ExpectOneLine(Coordinator({"--config", config, "--state-dir", cluster_.folder() + "/s"}), 3,
                AllOf(HasSubstr("run_defaults: provider is 'nobody'"), HasSubstr("rounds is -5"),
                      HasSubstr("parallel is 9999"), HasSubstr("budget.usd")));
  const std::string zeros =
      Write("zeros.textproto", "run_defaults { rounds: 0 world_model { max_new_nodes: 0 } }\n");
  ExpectOneLine(
      Coordinator({"--config", zeros, "--state-dir", cluster_.folder() + "/s"}), 3,
      AllOf(HasSubstr("run_defaults: rounds is 0"), HasSubstr("world_model.max_new_nodes is 0")));
}

TEST_F(BadInputTest, MalformedTaskNamesFileAndLine) {
  const std::string task = CopyTask();
  std::ofstream(task + "/workloads.jsonl", std::ios::app) << "{\"definition\": oops}\n";
  cluster_.StartCoordinator("", cluster_.folder() + "/tasks");
  ExpectOneLine(cluster_.Cli({"run", "--task", "softmax_rows_f32"}), 3,
                HasSubstr("workloads.jsonl:"));
  const CommandOutput tasks = cluster_.Cli({"tasks"});
  EXPECT_THAT(tasks.out, HasSubstr("UNUSABLE"));
}

TEST_F(BadInputTest, ShapeThatDoesNotMatchItsAxesNamesTheField) {
  const std::string task = CopyTask();
  Replace(task + "/definition.json", "        \"cols\"", "        \"no_such_axis\"");
  cluster_.StartCoordinator("", cluster_.folder() + "/tasks");
  ExpectOneLine(cluster_.Cli({"run", "--task", "softmax_rows_f32"}), 3,
                AllOf(HasSubstr("definition.json"), HasSubstr("shape"), HasSubstr("no_such_axis")));
}

TEST_F(BadInputTest, RunRequestsNameTheField) {
  cluster_.StartCoordinator();
  ExpectOneLine(cluster_.Cli({"run", "--task", "no_such_task"}), 3, HasSubstr("no_such_task"));
  ExpectOneLine(cluster_.Cli({"run", "--task", "matmul_f32", "--provider", "nobody"}), 3,
                AllOf(HasSubstr("nobody"), HasSubstr("scripted")));
  ExpectOneLine(cluster_.Cli({"run", "--task", "matmul_f32", "--strategy", "luck"}), 3,
                HasSubstr("luck"));
  ExpectOneLine(
      cluster_.Cli({"run", "--task", "matmul_f32", "--language", "cuda"}), 3,
      HasSubstr("language: cuda programs do not run on the device of task matmul_f32, a CPU"));
  ExpectOneLine(cluster_.Cli({"status", "no-such-run"}), 3, HasSubstr("no-such-run"));
  ExpectOneLine(cluster_.Cli({"eval", "--task", "matmul_f32", "/nonexistent.cpp"}), 3,
                HasSubstr("/nonexistent.cpp"));
}

TEST_F(BadInputTest, UnreachableModelFailsTheRunWhichCanBeResumed) {
  cluster_.StartCoordinator(
      "providers { name: \"gone\" openai_chat { base_url: "
      "\"http://127.0.0.1:9/v1\" default_model: \"m\" } "
      "retry { max_attempts: 2 first_delay { nanos: 1000000 } } }\n");
  const CommandOutput output = cluster_.Cli(
      {"run", "--task", "matmul_f32", "--provider", "gone", "--rounds", "2", "--without-workers"});
  EXPECT_EQ(output.exit.code, 5) << output.err;
  EXPECT_THAT(output.err, AllOf(HasSubstr("model"), HasSubstr("127.0.0.1:9")));
  EXPECT_EQ(cluster_.Cli({"resume", "last"}).exit.code, 0);
}

TEST_F(BadInputTest, ModelThatSaysNothingCostsNothingButRounds) {
  Write(
      "silent.cassette.textproto",
      "entries { purpose: \"init\" text: \"\\n\" }\nentries { purpose: \"action\" text: \"\\n\" }\n"
      "entries { purpose: \"propose\" text: \"\\n\" }\nentries { purpose: \"debug\" text: \"\\n\" "
      "}\n"
      "entries { purpose: \"refine\" text: \"\\n\" }\nentries { purpose: \"improve\" text: \"\\n\" "
      "}\n"
      "entries { purpose: \"too_hard\" text: \"\\n\" }\n");
  cluster_.StartModelServer(cluster_.folder() + "/silent.cassette.textproto");
  cluster_.StartCoordinator();
  const CommandOutput output =
      cluster_.Cli({"run", "--task", "matmul_f32", "--rounds", "3", "--without-workers"});
  // Every reply is blank: the run ends by itself, says so, and has no candidate.
  EXPECT_THAT(output.exit.code, testing::AnyOf(5, 7)) << output.out << output.err;
  EXPECT_THAT(cluster_.Cli({"log", "last"}).out,
              testing::AnyOf(HasSubstr("empty"), HasSubstr("unusable")));
}

}  // namespace
}  // namespace ksearch

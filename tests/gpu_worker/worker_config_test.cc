#include "gpu_worker/worker_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class WorkerConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "worker_config_test.XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& text) {
    const std::string path = folder_ + "/worker.textproto";
    std::ofstream(path) << text;
    return path;
  }
  static std::string Fault(const std::vector<std::string>& args) {
    return std::string(LoadWorkerConfig(args).status().message());
  }

  std::string folder_;
};

TEST_F(WorkerConfigTest, ArgumentsWinOverTheFileAndDefaultsFillTheRest) {
  const auto config =
      LoadWorkerConfig({"--config", Write("slots: 5 name: \"file\" coordinator_address: \"a:1\""),
                        "--name=given", "--coordinator", "127.0.0.1:7400"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->slots(), 5);
  EXPECT_EQ(config->name(), "given");
  EXPECT_EQ(config->coordinator_address(), "127.0.0.1:7400");
  EXPECT_EQ(config->run_as_uid(), 64123);
  EXPECT_EQ(config->state_dir()[0], '/');
  EXPECT_EQ(config->binary_dir()[0], '/');
}

TEST_F(WorkerConfigTest, HowLongItStaysIsReadFromFileAndFlags) {
  auto config = LoadWorkerConfig({"--coordinator", "a:1"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->has_idle_timeout());
  EXPECT_FALSE(config->has_lifetime());
  EXPECT_EQ(config->leave_grace().seconds(), 60);
  config = LoadWorkerConfig(
      {"--config", Write("idle_timeout { seconds: 9 nanos: 5 } lifetime { seconds: 100 }"),
       "--coordinator", "a:1", "--idle-timeout", "5m", "--leave-grace=500ms", "--lifetime=auto"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->idle_timeout().seconds(), 300);
  EXPECT_EQ(config->idle_timeout().nanos(), 0);
  EXPECT_EQ(config->lifetime().seconds(), 100);
  EXPECT_EQ(config->leave_grace().nanos(), 500'000'000);
  for (const char* bad : {"5", "-1s", "0s", "soon", "999999h"}) {
    EXPECT_THAT(Fault({"--coordinator", "a:1", "--idle-timeout", bad}), HasSubstr("--idle-timeout"))
        << bad;
  }
  EXPECT_THAT(Fault({"--coordinator", "a:1", "--config", Write("lifetime { seconds: -1 }")}),
              HasSubstr("lifetime"));
  EXPECT_THAT(Fault({"--coordinator", "a:1", "--config", Write("pool: \"a b\"")}),
              HasSubstr("pool"));
}

TEST_F(WorkerConfigTest, AnAccessFileThatCannotBeUsedIsTheOnlyFault) {
  const std::string path = folder_ + "/fleet.access";
  const std::vector<std::string> args = {"--access", path};
  EXPECT_THAT(Fault(args), HasSubstr("fleet.access"));
  EXPECT_EQ(Fault(args).find('\n'), std::string::npos) << Fault(args);
  std::ofstream(path) << "coordinator_address: \"a:1\" token: \"ks_join_0123456789ab_"
                      << std::string(64, 'a') << "\"";
  ::chmod(path.c_str(), 0644);
  EXPECT_THAT(Fault(args), HasSubstr("0644"));
  EXPECT_EQ(Fault(args).find('\n'), std::string::npos) << Fault(args);
  // Other errors are still reported.
  EXPECT_THAT(Fault({"--access", path, "--coordinator", "nonsense"}), HasSubstr("'nonsense'"));
  ::chmod(path.c_str(), 0600);
  EXPECT_TRUE(LoadWorkerConfig(args).ok()) << Fault(args);
}

TEST_F(WorkerConfigTest, EveryFaultIsListed) {
  const std::string fault =
      Fault({"--config",
             Write("run_as_uid: -1 sandbox { max_processes: -2 gpu_filter: \"all\" } "
                   "toolchains { language: LANGUAGE_UNSPECIFIED }"),
             "--slots", "none", "--color", "red"});
  for (const char* part :
       {"--slots", "--color", "run_as_uid", "sandbox.max_processes", "sandbox.gpu_filter: 'all'",
        "allow-list", "toolchains[0].language", "coordinator_address is missing"}) {
    EXPECT_THAT(fault, HasSubstr(part));
  }
  EXPECT_THAT(fault, HasSubstr("builds LANGUAGE_CPP, LANGUAGE_CUDA, LANGUAGE_PYTHON, not "
                               "LANGUAGE_UNSPECIFIED"));
}

TEST_F(WorkerConfigTest, UnknownFieldNamesFileAndLine) {
  EXPECT_THAT(Fault({"--config", Write("slots: 1\nslotz: 2\n")}), HasSubstr("worker.textproto:2"));
}

TEST_F(WorkerConfigTest, CompileOnlyIsAWordOfItsOwnAndNeedsNoVerifier) {
  auto config = LoadWorkerConfig({"--coordinator", "host:7400", "--compile-only", "--slots=3"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->compile_only());
  EXPECT_EQ(config->slots(), 3);
  config->set_binary_dir("/no/such/folder");
  const std::string said(CheckPrograms(*config).message());
  EXPECT_EQ(said.find("binary_dir"), std::string::npos) << said;
  EXPECT_FALSE(LoadWorkerConfig({"--coordinator", "h:1", "--compile-only=maybe"}).ok());
}

TEST_F(WorkerConfigTest, AddressMustHaveAPort) {
  for (const char* address : {"localhost", "localhost:", ":7400", "localhost:99999", "h:0"}) {
    EXPECT_THAT(Fault({"--coordinator", address}), HasSubstr("HOST:PORT")) << address;
  }
}

TEST_F(WorkerConfigTest, TheShippedConfigsAreValid) {
  for (const char* name : {"worker_cpu", "worker_h200"}) {
    const auto config = LoadWorkerConfig(
        {"--config",
         absl::StrCat(std::getenv("KSEARCH_SOURCE_DIR"), "/configs/", name, ".textproto"),
         "--coordinator", "127.0.0.1:7400"});
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->toolchains_size(), 1);
  }
}

TEST_F(WorkerConfigTest, ASelfTestNeedsNoCoordinator) {
  EXPECT_TRUE(LoadWorkerConfig({}, /*need_coordinator=*/false).ok());
  EXPECT_FALSE(LoadWorkerConfig({"--coordinator", "nonsense"}, /*need_coordinator=*/false).ok());
}

TEST_F(WorkerConfigTest, GpuFieldsBelongToGpus) {
  const std::string fault =
      Fault({"--coordinator", "a:1", "--config",
             Write("device { gpus: \"0\" } "
                   "more_devices { device_class: DEVICE_CLASS_CUDA gpus: \"0\" } "
                   "more_devices { max_rotation_bytes: -1 allow_busy: true } "
                   "toolchains { language: LANGUAGE_CUDA }")});
  EXPECT_THAT(fault, HasSubstr("device.gpus"));
  EXPECT_THAT(fault, HasSubstr("more_devices[1].max_rotation_bytes"));
  EXPECT_THAT(fault, HasSubstr("more_devices[1].allow_busy"));
  EXPECT_THAT(fault, testing::Not(HasSubstr("more_devices[0]")));
}

TEST_F(WorkerConfigTest, InterpretersAreOfPythonAndCompilersOfTheOthers) {
  const std::string fault =
      Fault({"--coordinator", "a:1", "--config",
             Write("toolchains { language: LANGUAGE_CPP interpreter: \"/usr/bin/python3\" } "
                   "toolchains { language: LANGUAGE_PYTHON compiler_path: \"/usr/bin/g++\" }")});
  EXPECT_THAT(fault, HasSubstr("toolchains[0].interpreter"));
  EXPECT_THAT(fault, HasSubstr("toolchains[1].compiler_path"));
  // The toolchain reports what is missing; the loader does not search for a compiler.
  auto config = LoadWorkerConfig(
      {"--coordinator", "a:1", "--compile-only", "--state-dir", folder_, "--config",
       Write("toolchains { language: LANGUAGE_PYTHON interpreter: \"/no/python3\" }")});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(std::string(CheckPrograms(*config).message()).find("compiler_path"), std::string::npos);
}

TEST_F(WorkerConfigTest, AGpuNeedsAToolchainForIt) {
  for (const std::string toolchain : {"", "toolchains { language: LANGUAGE_CPP }"}) {
    EXPECT_THAT(
        Fault({"--coordinator", "a:1", "--config",
               Write("device { device_class: DEVICE_CLASS_CUDA gpus: \"0\" } " + toolchain)}),
        testing::AllOf(HasSubstr("device.device_class"),
                       HasSubstr("toolchains { language: LANGUAGE_CUDA or LANGUAGE_PYTHON }")));
  }
}

TEST_F(WorkerConfigTest, BubblewrapBesideTheBinariesIsTakenUnlessOneIsNamed) {
  const std::string own = folder_ + "/bwrap";
  std::ofstream(own) << "#!/bin/sh\n";
  ASSERT_EQ(::chmod(own.c_str(), 0755), 0);
  const std::string text = absl::StrCat("binary_dir: \"", folder_, "\" ");
  EXPECT_EQ(LoadWorkerConfig({"--config", Write(text), "--coordinator", "a:1"})
                ->sandbox()
                .bubblewrap_path(),
            own);
  const std::string named = text + "sandbox { bubblewrap_path: \"/usr/bin/bwrap\" }";
  EXPECT_EQ(LoadWorkerConfig({"--config", Write(named), "--coordinator", "a:1"})
                ->sandbox()
                .bubblewrap_path(),
            "/usr/bin/bwrap");
}

TEST_F(WorkerConfigTest, SlotsAreTwoToFourPerDeviceUnlessGiven) {
  EXPECT_EQ(SlotsOf(v1::WorkerConfig(), 1, 2), 2);
  EXPECT_EQ(SlotsOf(v1::WorkerConfig(), 1, 16), 4);
  EXPECT_EQ(SlotsOf(v1::WorkerConfig(), 1, 256), 4);
  EXPECT_EQ(SlotsOf(v1::WorkerConfig(), 4, 64), 16);
  EXPECT_EQ(SlotsOf(v1::WorkerConfig(), 8, 96), 24);
  EXPECT_EQ(SlotsOf(v1::WorkerConfig(), 8, 8), 16);
  v1::WorkerConfig config;
  config.set_slots(3);
  EXPECT_EQ(SlotsOf(config, 8, 64), 3);
}

TEST_F(WorkerConfigTest, MissingProgramsAreNamedOneALine) {
  auto config = LoadWorkerConfig({"--coordinator", "127.0.0.1:7400", "--state-dir", folder_});
  ASSERT_TRUE(config.ok());
  config->set_binary_dir("/no/such/folder");
  config->mutable_sandbox()->set_bubblewrap_path("/no/bwrap");
  config->add_toolchains()->set_compiler_path("/no/g++-99");
  const std::string fault(CheckPrograms(*config).message());
  for (const char* part : {"/no/such/folder/ksearch-verifier", "/no/such/folder/ksearch-runner",
                           "/no/bwrap", "/no/g++-99"}) {
    EXPECT_THAT(fault, HasSubstr(part));
  }
  EXPECT_EQ(std::count(fault.begin(), fault.end(), '\n'), 3);
}

// Runs in a child process, because changing the account cannot be undone. 0: as expected.
int InChild(const std::function<bool()>& expectation) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(expectation() ? 0 : 1);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class WorkerAccountTest : public WorkerConfigTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    WorkerConfigTest::SetUp();
    ::chmod(folder_.c_str(), 0755);
    config_ =
        *LoadWorkerConfig({"--coordinator", "127.0.0.1:7400", "--state-dir", folder_ + "/a/state"});
    config_.mutable_sandbox()->set_cgroup("none");
  }
  v1::WorkerConfig config_;
};

TEST_F(WorkerAccountTest, RootIsLeftAndTheStateFolderGivenAway) {
  EXPECT_EQ(InChild([&] {
              return TakeAccount(config_).ok() && ::geteuid() == 64123 && ::getgid() == 64123 &&
                     ::setuid(0) != 0 && ::access(config_.state_dir().c_str(), W_OK) == 0;
            }),
            0);
  EXPECT_EQ(InChild([&] { return TakeAccount(config_).ok(); }), 0) << "the second start";
}

TEST_F(WorkerAccountTest, AFolderInUseIsNotGivenAway) {
  std::filesystem::create_directories(config_.state_dir());
  std::ofstream(config_.state_dir() + "/precious") << "x";
  EXPECT_EQ(InChild([&] {
              const absl::Status status = TakeAccount(config_);
              return status.message().find("chown -R 64123") != absl::string_view::npos;
            }),
            0);
}

TEST_F(WorkerAccountTest, FolderThatBarsTheWayIsNamed) {
  const std::string closed = folder_ + "/closed";
  std::filesystem::create_directories(closed + "/bin");
  for (const char* name : {"/bin/ksearch-verifier", "/bin/ksearch-runner"}) {
    std::ofstream(closed + name) << "";
    ::chmod((closed + name).c_str(), 0755);
  }
  ::chmod(closed.c_str(), 0700);
  config_.set_binary_dir(closed + "/bin");
  EXPECT_EQ(InChild([&] {
              if (!TakeAccount(config_).ok()) return false;
              const std::string message(CheckPrograms(config_).message());
              return message.find(absl::StrCat("chmod o+x ", closed, "`")) != std::string::npos;
            }),
            0);
}

}  // namespace
}  // namespace ksearch

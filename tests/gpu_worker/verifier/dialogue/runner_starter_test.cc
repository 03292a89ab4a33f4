#include "gpu_worker/verifier/dialogue/runner_starter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/digest.h"
#include "common/folder_digest.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Records the requests and starts nothing.
class FakeSandbox final : public Sandbox {
 public:
  absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) override {
    asked = spec;
    return absl::UnavailableError("nothing is started here");
  }
  v1::IsolationLevel isolation() const override { return {}; }

  SandboxSpec asked;
};

class RunnerStarterTest : public ::testing::Test {
 protected:
  RunnerStarterTest() : folder_(fs::path(::testing::TempDir()) / ("program_" + RandomHex(8))) {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "main.py") << "def run(a, b):\n  pass\n";
  }
  ~RunnerStarterTest() override { fs::remove_all(folder_); }

  v1::Artifact FolderArtifact() {
    v1::Artifact artifact;
    artifact.set_id("folder");
    artifact.set_path(folder_.string());
    artifact.set_sha256(*FolderSha256(folder_.string(), 1 << 20));
    artifact.set_main_file("main.py");
    artifact.mutable_runner()->add_argv("/opt/venv/bin/python3");
    artifact.mutable_runner()->add_argv("-I");
    artifact.mutable_runner()->add_reads("/opt/venv");
    (*artifact.mutable_runner()->mutable_environment())["OMP_NUM_THREADS"] = "2";
    return artifact;
  }
  const SandboxSpec& Asked(const ProgramImage& program) {
    EXPECT_FALSE(starter_.Start(program, RunnerStarter::TrustedLimits()).ok());
    return sandbox_.asked;
  }
  bool Shows(const std::string& path, const std::string& inside) const {
    return std::any_of(sandbox_.asked.binds.begin(), sandbox_.asked.binds.end(),
                       [&](const SandboxSpec::Bind& bind) {
                         return bind.host_path == path && bind.inside_path == inside &&
                                !bind.writable && !bind.device;
                       });
  }
  bool Shows(const std::string& path) const { return Shows(path, path); }

  const fs::path folder_;
  FakeSandbox sandbox_;
  RunnerStarter starter_{sandbox_, "/bin/ksearch-runner", {}, Clock::Real()};
};

TEST_F(RunnerStarterTest, ASharedObjectIsLoadedByTheUsualRunner) {
  const ProgramImage program = *ProgramImage::Open(CandidateArtifact("honest"));
  EXPECT_FALSE(program.is_folder());
  EXPECT_EQ(program.load_time(), absl::Seconds(10));
  EXPECT_THAT(Asked(program).argv, ElementsAre("/bin/ksearch-runner"));
  EXPECT_TRUE(Shows("/bin/ksearch-runner"));
  EXPECT_EQ(sandbox_.asked.binds.size(), 1u);
  EXPECT_FALSE(starter_.StartIdle(RunnerStarter::TrustedLimits()).ok());
  EXPECT_THAT(sandbox_.asked.argv, ElementsAre("/bin/ksearch-runner"));
}

TEST_F(RunnerStarterTest, EveryRunnerGetsASharedObjectInAFileOfItsOwn) {
  const v1::Artifact artifact = CandidateArtifact("honest");
  const ProgramImage program = *ProgramImage::Open(artifact);
  const UniqueFd first = *program.CopyForRunner();
  const UniqueFd second = *program.CopyForRunner();
  struct stat a, b;
  ASSERT_EQ(::fstat(first.get(), &a), 0);
  ASSERT_EQ(::fstat(second.get(), &b), 0);
  EXPECT_NE(a.st_ino, b.st_ino);
  ASSERT_EQ(a.st_size, b.st_size);
  // Readers do not share a file position, and nobody can write.
  EXPECT_EQ(::lseek(first.get(), 77, SEEK_SET), 77);
  EXPECT_EQ(::lseek(second.get(), 0, SEEK_CUR), b.st_size);
  EXPECT_LT(::pwrite(second.get(), "x", 1, 0), 0);
  std::string copied(static_cast<size_t>(b.st_size), '\0');
  ASSERT_EQ(::pread(second.get(), copied.data(), copied.size(), 0), b.st_size);
  EXPECT_EQ(Sha256Hex(copied), artifact.sha256());
}

TEST_F(RunnerStarterTest, TheFilterOfTheSettingsIsForGpusOnly) {
  v1::SandboxSettings settings;
  settings.set_gpu_filter("allow-list");
  RunnerStarter starter(sandbox_, "/bin/ksearch-runner", settings, Clock::Real());
  EXPECT_FALSE(starter.StartIdle(RunnerStarter::TrustedLimits()).ok());
  EXPECT_THAT(sandbox_.asked.argv, ElementsAre("/bin/ksearch-runner"));
  starter.UseGpu("GPU-1", GpuBinds());
  EXPECT_FALSE(starter.StartIdle(RunnerStarter::TrustedLimits()).ok());
  EXPECT_THAT(sandbox_.asked.argv,
              ElementsAre("/bin/ksearch-runner", "--gpu=GPU-1", "--gpu-filter=allow-list"));
}

TEST_F(RunnerStarterTest, AFolderIsShownToTheRunnerThatItNames) {
  v1::Artifact artifact = FolderArtifact();
  artifact.mutable_load_time()->set_seconds(60);
  const auto program = ProgramImage::Open(artifact);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_TRUE(program->is_folder());
  EXPECT_EQ(program->main_path(), "/program/main.py");
  EXPECT_EQ(program->load_time(), absl::Minutes(1));
  const SandboxSpec& asked = Asked(*program);
  EXPECT_THAT(asked.argv, ElementsAre("/opt/venv/bin/python3", "-I"));
  EXPECT_THAT(asked.environment, ElementsAre(Pair("OMP_NUM_THREADS", "2")));
  EXPECT_TRUE(Shows("/opt/venv"));
  EXPECT_TRUE(Shows(folder_.string(), "/program"));
  EXPECT_FALSE(Shows("/bin/ksearch-runner"));
}

TEST_F(RunnerStarterTest, FoldersThatAreNotWhatTheArtifactSaysAreRefused) {
  const v1::Artifact good = FolderArtifact();
  v1::Artifact bad = good;
  bad.set_main_file("other.py");
  EXPECT_THAT(std::string(ProgramImage::Open(bad).status().message()), HasSubstr("main_file"));
  bad = good;
  bad.clear_runner();
  EXPECT_EQ(ProgramImage::Open(bad).status().code(), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.mutable_runner()->set_argv(0, "python3");
  EXPECT_THAT(std::string(ProgramImage::Open(bad).status().message()), HasSubstr("runner.argv"));
  std::ofstream(folder_ / "main.py") << "def run(a, b):\n  b.copy_(a)\n";
  EXPECT_EQ(ProgramImage::Open(good).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace ksearch

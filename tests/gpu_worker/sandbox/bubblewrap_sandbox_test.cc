#include "gpu_worker/sandbox/bubblewrap_sandbox.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/clock.h"
#include "common/textproto.h"
#include "gpu_worker/sandbox/output_capture.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMiB = int64_t{1} << 20;

absl::Time In(absl::Duration delay) { return Clock::Real().SteadyNow() + delay; }

// Returns the number after `word` in a report of the misbehaving program, or -1.
int64_t NumberAfter(const std::string& output, const std::string& word) {
  const size_t at = output.find(word + " ");
  int64_t number = -1;
  if (at == std::string::npos) return -1;
  const std::vector<std::string> parts =
      absl::StrSplit(output.substr(at + word.size() + 1), absl::ByAnyChar(" \n"));
  return absl::SimpleAtoi(parts[0], &number) ? number : -1;
}

// Counts this machine's processes whose command line contains `marker`.
int ProcessesWith(const std::string& marker) {
  int count = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir("/proc"), &::closedir);
  while (const dirent* entry = ::readdir(dir.get())) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry->d_name, &pid) || pid == ::getpid()) continue;
    const auto line = ReadFile(absl::StrCat("/proc/", pid, "/cmdline"), 1 << 20);
    if (line.ok() && line->find(marker) != std::string::npos) ++count;
  }
  return count;
}

class BubblewrapSandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeSandbox(v1::SandboxSettings());
    ASSERT_TRUE(made.ok()) << made.status();
    sandbox_ = *std::move(made);
  }

  SandboxSpec Misbehave(std::vector<std::string> arguments) {
    SandboxSpec spec;
    spec.argv = {"/test/program"};
    for (std::string& argument : arguments) spec.argv.push_back(std::move(argument));
    spec.binds.push_back({.host_path = CopiedProgram("ksearch-misbehaving-program"),
                          .inside_path = "/test/program"});
    spec.memory_bytes = 256 * kMiB;
    spec.tmp_bytes = 8 * kMiB;
    spec.cpu_time = absl::Seconds(20);
    return spec;
  }

  SandboxExit Run(const SandboxSpec& spec) {
    auto process = sandbox_->Launch(spec);
    EXPECT_TRUE(process.ok()) << process.status();
    if (!process.ok()) return {};
    auto exit = (*process)->Wait(In(absl::Seconds(60)));
    EXPECT_TRUE(exit.has_value()) << "still running after 60 s";
    return exit.value_or(SandboxExit());
  }

  std::unique_ptr<Sandbox> sandbox_;
};

TEST_F(BubblewrapSandboxTest, RefusesRoot) {
  if (RootRefusal().empty()) GTEST_SKIP() << "not started as root";
  EXPECT_THAT(RootRefusal(), HasSubstr("FAILED_PRECONDITION"));
  EXPECT_THAT(RootRefusal(), HasSubstr("does not start as root"));
}

TEST_F(BubblewrapSandboxTest, ReportsExitStatus) {
  const SandboxExit exit = Run(Misbehave({"exit", "7"}));
  EXPECT_FALSE(exit.signaled);
  EXPECT_EQ(exit.code, 7);
  EXPECT_FALSE(exit.setup_failed);
}

TEST_F(BubblewrapSandboxTest, ReportsSignal) {
  const SandboxExit exit = Run(Misbehave({"crash"}));
  EXPECT_TRUE(exit.signaled);
  EXPECT_EQ(exit.code, SIGABRT);
}

TEST_F(BubblewrapSandboxTest, SaysWhenTheSandboxItselfFailed) {
  SandboxSpec spec = Misbehave({"exit", "0"});
  spec.binds.push_back({.host_path = "/no/such/folder", .inside_path = "/x"});
  const SandboxExit exit = Run(spec);
  EXPECT_TRUE(exit.setup_failed);
  EXPECT_THAT(exit.output, HasSubstr("/no/such/folder"));
}

TEST_F(BubblewrapSandboxTest, RelativeProgramIsRefused) {
  SandboxSpec spec;
  spec.argv = {"true"};
  EXPECT_EQ(sandbox_->Launch(spec).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(BubblewrapSandboxTest, ForkBombStopsAtTheLimit) {
  SandboxSpec spec = Misbehave({"fork_bomb"});
  spec.max_processes = 40;
  const SandboxExit exit = Run(spec);
  EXPECT_LE(NumberAfter(exit.output, "PROCESSES"), 40);
  EXPECT_GT(NumberAfter(exit.output, "PROCESSES"), 10);
}

TEST_F(BubblewrapSandboxTest, ProcessLimitDoesNotCountOtherSandboxes) {
  SandboxSpec first = Misbehave({"loop"});
  first.max_processes = 4;
  std::vector<std::unique_ptr<SandboxedProcess>> busy;
  for (int i = 0; i < 4; ++i) {
    auto process = sandbox_->Launch(first);
    ASSERT_TRUE(process.ok()) << process.status();
    busy.push_back(*std::move(process));
  }
  SandboxSpec spec = Misbehave({"fork_bomb"});
  spec.max_processes = 10;
  EXPECT_GE(NumberAfter(Run(spec).output, "PROCESSES"), 5);
}

TEST_F(BubblewrapSandboxTest, MemoryHogIsKilledByTheCgroup) {
  if (sandbox_->isolation().cgroup() == "none") GTEST_SKIP() << "no cgroup here";
  SandboxSpec spec = Misbehave({"memory", "1000"});
  spec.memory_bytes = 64 * kMiB;
  const SandboxExit exit = Run(spec);
  EXPECT_TRUE(exit.signaled);
  EXPECT_EQ(exit.code, SIGKILL);
  EXPECT_TRUE(exit.memory_limit_hit);
}

TEST_F(BubblewrapSandboxTest, MemoryHogMeetsTheAddressSpaceLimit) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "no address space limit in sanitized builds";
#endif
  SandboxSpec spec = Misbehave({"memory", "1000"});
  spec.memory_bytes = 512 * kMiB;
  spec.address_space_bytes = 128 * kMiB;
  const SandboxExit exit = Run(spec);
  EXPECT_LT(NumberAfter(exit.output, "MEGABYTES"), 128);
  EXPECT_GT(NumberAfter(exit.output, "MEGABYTES"), 16);
}

TEST_F(BubblewrapSandboxTest, EndlessLoopEndsAtItsCpuTime) {
  SandboxSpec spec = Misbehave({"loop"});
  spec.cpu_time = absl::Seconds(1);
  const SandboxExit exit = Run(spec);
  EXPECT_TRUE(exit.signaled);
  EXPECT_EQ(exit.code, SIGKILL);
}

TEST_F(BubblewrapSandboxTest, KillEndsALoopThatIgnoresSignals) {
  const std::string marker = "ksearch-marker-loop";
  auto process = sandbox_->Launch(Misbehave({"loop", marker}));
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_FALSE((*process)->Wait(In(absl::Milliseconds(20))).has_value());
  (*process)->Kill();
  const auto exit = (*process)->Wait(In(absl::Seconds(20)));
  ASSERT_TRUE(exit.has_value());
  EXPECT_TRUE(exit->signaled);
  EXPECT_FALSE(exit->setup_failed);
  process->reset();
  EXPECT_EQ(ProcessesWith(marker), 0);
}

TEST_F(BubblewrapSandboxTest, OutlivesTheThreadThatLaunchedIt) {
  absl::StatusOr<std::unique_ptr<SandboxedProcess>> process = absl::InternalError("not started");
  std::thread([&] { process = sandbox_->Launch(Misbehave({"loop"})); }).join();
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_FALSE((*process)->Wait(In(absl::Milliseconds(200))).has_value());
}

TEST_F(BubblewrapSandboxTest, TemporaryFoldersHaveASize) {
  for (const char* path : {"/tmp/big", "/dev/shm/big"}) {
    const SandboxExit exit = Run(Misbehave({"fill", path}));
    EXPECT_LE(NumberAfter(exit.output, "MEGABYTES"), 8) << path;
    EXPECT_GE(NumberAfter(exit.output, "MEGABYTES"), 6) << path;
  }
}

TEST_F(BubblewrapSandboxTest, FileSizeIsLimited) {
  SandboxSpec spec = Misbehave({"fill", "/tmp/big"});
  spec.file_bytes = 2 * kMiB;
  const SandboxExit exit = Run(spec);
  EXPECT_TRUE(exit.signaled);
  EXPECT_EQ(exit.code, SIGXFSZ);
}

TEST_F(BubblewrapSandboxTest, NoNetwork) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  struct sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const SandboxExit exit = Run(Misbehave({"network", absl::StrCat(ntohs(address.sin_port))}));
  EXPECT_THAT(exit.output, HasSubstr("HELD tcp"));
  EXPECT_THAT(exit.output, HasSubstr("HELD raw"));
  EXPECT_THAT(exit.output, HasSubstr("HELD packet"));
}

TEST_F(BubblewrapSandboxTest, NoAbstractSockets) {
  const std::string name = absl::StrCat("ksearch-test-", ::getpid());
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  struct sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const socklen_t size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  EXPECT_THAT(Run(Misbehave({"abstract", name})).output, HasSubstr("HELD abstract"));
}

TEST_F(BubblewrapSandboxTest, HostFilesAreOutOfSight) {
  const std::string secret = ScratchFolder() + "/secret";
  std::ofstream(secret) << "secret";
  const SandboxExit exit = Run(Misbehave({"read", "/etc/shadow", "/etc/passwd", "/root", "/home",
                                          secret, "/proc/1/root/etc/shadow", "/sys/kernel"}));
  EXPECT_THAT(exit.output, Not(HasSubstr("DONE")));
}

TEST_F(BubblewrapSandboxTest, TheFirstProcessInsideIsOutOfReach) {
  const SandboxExit exit =
      Run(Misbehave({"read", "/proc/1/mem", "/proc/1/maps", "/proc/1/task/1/mem", "/proc/1/root"}));
  EXPECT_THAT(exit.output, HasSubstr("HELD /proc/1/mem"));
  EXPECT_THAT(exit.output, Not(HasSubstr("DONE")));
  EXPECT_THAT(Run(Misbehave({"read", "/proc/self/maps"})).output, HasSubstr("DONE"));
}

TEST_F(BubblewrapSandboxTest, EnvironmentIsNotInherited) {
  ::setenv("KSEARCH_TEST_SECRET", "hunter2", 1);
  SandboxSpec spec = Misbehave({"environment"});
  spec.environment["GIVEN"] = "yes";
  const SandboxExit exit = Run(spec);
  EXPECT_THAT(exit.output, Not(HasSubstr("hunter2")));
  EXPECT_THAT(exit.output, HasSubstr("GIVEN=yes\n"));
}

TEST_F(BubblewrapSandboxTest, OnlyGrantedPlacesAreWritable) {
  const std::string given = ScratchFolder() + "/given", shown = ScratchFolder() + "/shown";
  ::mkdir(given.c_str(), 0700);
  ::mkdir(shown.c_str(), 0700);
  SandboxSpec spec = Misbehave({"write", "/usr", "/etc", "/", "/test", "/test/program", "/dev",
                                "/shown", "/proc/sys/kernel/core_pattern",
                                "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger"});
  spec.binds.push_back({.host_path = shown, .inside_path = "/shown"});
  EXPECT_THAT(Run(spec).output, Not(HasSubstr("DONE")));
  spec = Misbehave({"write", "/out"});
  spec.binds.push_back({.host_path = given, .inside_path = "/out", .writable = true});
  EXPECT_THAT(Run(spec).output, HasSubstr("DONE /out"));
  EXPECT_EQ(::access((given + "/planted").c_str(), F_OK), 0);
}

TEST_F(BubblewrapSandboxTest, CallsThatReachForPrivilegesAreRefused) {
  const SandboxExit exit = Run(Misbehave({"calls"}));
  EXPECT_THAT(exit.output, Not(HasSubstr("DONE")));
  EXPECT_THAT(exit.output, HasSubstr("HELD perf"));
  EXPECT_THAT(exit.output, HasSubstr(absl::StrCat("HELD clone3 errno=", ENOSYS)));
}

TEST_F(BubblewrapSandboxTest, KillingEverythingReachesOnlyItself) {
  const std::string marker = "ksearch-marker-neighbor";
  auto neighbor = sandbox_->Launch(Misbehave({"loop", marker}));
  ASSERT_TRUE(neighbor.ok());
  Run(Misbehave({"kill_all"}));
  EXPECT_FALSE((*neighbor)->Wait(In(absl::Milliseconds(50))).has_value());
}

TEST_F(BubblewrapSandboxTest, DaemonsDieWithTheJob) {
  const std::string folder = ScratchFolder() + "/daemon";
  ::mkdir(folder.c_str(), 0700);
  SandboxSpec spec = Misbehave({"daemon", "/out/beat"});
  spec.binds.push_back({.host_path = folder, .inside_path = "/out", .writable = true});
  EXPECT_THAT(Run(spec).output, HasSubstr("DONE daemon"));
  // Every process that had to be killed is dead by the time Wait returns.
  struct stat before, after;
  ASSERT_EQ(::stat((folder + "/beat").c_str(), &before), 0);
  EXPECT_EQ(ProcessesWith("/out/beat"), 0);
  ASSERT_EQ(::stat((folder + "/beat").c_str(), &after), 0);
  EXPECT_EQ(before.st_size, after.st_size);
}

TEST_F(BubblewrapSandboxTest, ProgramsCanBeMadeToYieldTheirCore) {
  SandboxSpec spec;
  spec.argv = {"/usr/bin/nice"};  // prints its own niceness
  spec.niceness = 10;
  EXPECT_EQ(Run(spec).output, "10\n");
  if (!std::filesystem::exists("/proc/self/autogroup")) return;
  spec.argv = {"/usr/bin/cat", "/proc/self/autogroup"};
  EXPECT_THAT(Run(spec).output, HasSubstr("nice 10"));
}

TEST_F(BubblewrapSandboxTest, OutputBeyondTheCapIsDropped) {
  SandboxSpec spec = Misbehave({"flood", "1"});
  spec.output_bytes = 64 << 10;
  const SandboxExit exit = Run(spec);
  EXPECT_EQ(exit.output.size(), 64u << 10);
  EXPECT_TRUE(exit.output_truncated);
  EXPECT_FALSE(exit.output_limit_hit);
  EXPECT_EQ(exit.code, 0);
}

TEST(OutputCaptureTest, KeepsWhatCameBeforeItWasToldToStop) {
  auto capture = OutputCapture::Start(100, [] {});
  ASSERT_TRUE(capture.ok()) << capture.status();
  ASSERT_EQ(::write((*capture)->write_fd(), "before", 6), 6);
  (*capture)->StopKeeping();
  ASSERT_EQ(::write((*capture)->write_fd(), "after", 5), 5);
  (*capture)->CloseWriteEnd();
  const OutputCapture::Captured captured = (*capture)->Finish(absl::Seconds(20));
  EXPECT_EQ(captured.text, "before");
  EXPECT_FALSE(captured.flooded);
}

TEST_F(BubblewrapSandboxTest, OutputFloodIsKilled) {
  SandboxSpec spec = Misbehave({"flood", "100000"});
  spec.output_bytes = 16 << 10;
  const SandboxExit exit = Run(spec);
  EXPECT_TRUE(exit.output_limit_hit);
  EXPECT_TRUE(exit.signaled);
}

TEST_F(BubblewrapSandboxTest, OnlyGrantedDescriptorsArrive) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
  const UniqueFd ours(pair[0]), theirs(pair[1]);
  SandboxSpec spec = Misbehave({"descriptors"});
  spec.inherited_fds = {{theirs.get(), 5}};
  EXPECT_EQ(Run(spec).output, "FD 0\nFD 1\nFD 2\nFD 5\n");
}

TEST_F(BubblewrapSandboxTest, LaunchCost) {
  constexpr int kLaunches = 50;
  std::vector<double> milliseconds;
  for (int i = 0; i < kLaunches; ++i) {
    const absl::Time start = Clock::Real().SteadyNow();
    EXPECT_EQ(Run(Misbehave({"exit", "0"})).code, 0);
    milliseconds.push_back(absl::ToDoubleMilliseconds(Clock::Real().SteadyNow() - start));
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  RecordProperty("launch_p50_ms", absl::StrCat(milliseconds[kLaunches / 2]));
  std::printf("launch to reaped: p50 %.2f ms, p95 %.2f ms, cgroup %s\n",
              milliseconds[kLaunches / 2], milliseconds[kLaunches * 95 / 100],
              sandbox_->isolation().cgroup().c_str());
}

TEST(SandboxFactoryTest, UnknownCgroupWordIsNamed) {
  v1::SandboxSettings settings;
  settings.set_cgroup("yes");
  const auto made = MakeSandbox(settings);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("sandbox.cgroup: 'yes'"));
}

}  // namespace
}  // namespace ksearch

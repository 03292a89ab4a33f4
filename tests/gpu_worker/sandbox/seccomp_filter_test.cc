#include "gpu_worker/sandbox/seccomp_filter.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <vector>

#include "common/clock.h"
#include "common/subprocess.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"

namespace ksearch {
namespace {

Subprocess::Exit Try(const std::string& what) {
  SubprocessOptions options;
  options.argv = {CopiedProgram("ksearch-tight-filter-program"), what};
  auto process = Subprocess::Start(options);
  EXPECT_TRUE(process.ok()) << process.status();
  if (!process.ok()) return {};
  return (*process)->Wait(Clock::Real().SteadyNow() + absl::Seconds(30)).value();
}

TEST(TightFilterTest, LetsThreadsStart) {
  const Subprocess::Exit exit = Try("thread");
  EXPECT_FALSE(exit.signaled);
  EXPECT_EQ(exit.code, 0);
}

TEST(TightFilterTest, LetsADriverWork) {
  const Subprocess::Exit exit = Try("gpu-driver");
  EXPECT_FALSE(exit.signaled) << exit.code;
  EXPECT_EQ(exit.code, 0);
}

TEST(TightFilterTest, RefusesSocketsAndProcesses) {
  for (const char* what : {"socket", "inet", "fork"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what;
    EXPECT_EQ(exit.code, 1) << what;
  }
}

TEST(TightFilterTest, RefusesTimersEverywhereAndUncountedMemoryOnProcessors) {
  for (const char* what :
       {"timer", "gpu-timer", "input-signal", "gpu-input-signal", "wide-input-signal",
        "gpu-wide-input-signal", "memory-file", "shared-memory"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what;
    EXPECT_EQ(exit.code, 1) << what;
  }
  for (const char* what : {"private-memory", "gpu-memory-file"}) {
    EXPECT_EQ(Try(what).code, 0) << what;
  }
}

TEST(TightFilterTest, RefusesWhatRunsOnInAStoppedProcess) {
  for (const char* what :
       {"waiting-clone", "gpu-waiting-clone", "kernel-requests", "gpu-kernel-requests",
        "own-filter", "gpu-own-filter", "merged-memory", "gpu-merged-memory"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what;
    EXPECT_EQ(exit.code, 1) << what;
  }
}

TEST(TightFilterTest, RefusesNewFilesLocksAndWatchesOnProcessors) {
  for (const char* what : {"file-lock", "file-watch", "new-file"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what;
    EXPECT_EQ(exit.code, 1) << what;
  }
  for (const char* what : {"old-file", "gpu-file-lock", "gpu-old-file"}) {
    EXPECT_EQ(Try(what).code, 0) << what;
  }
}

TEST(TightFilterTest, AllowsOnProcessorsWhatHonestProgramsNeedAndNothingElse) {
  for (const char* what : {"honest-means", "own-signal", "gpu-other-call", "gpu-new-limit",
                           "gpu-written-file", "gpu-signal-to-another", "gpu-second-mapping"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what;
    EXPECT_EQ(exit.code, 0) << what;
  }
  for (const char* what : {"other-call", "absent-call", "new-limit", "written-file",
                           "signal-to-another", "second-mapping"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what;
    EXPECT_EQ(exit.code, 1) << what;
  }
}

TEST(TightFilterTest, KillsWhatWouldEscape) {
  for (const char* what : {"exec", "ptrace"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_TRUE(exit.signaled) << what;
    EXPECT_EQ(exit.code, SIGSYS) << what;
  }
}

TEST(LooseFilterTest, IsAWholeNumberOfInstructions) {
  const auto program = LooseFilterProgram();
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_GT(program->size(), 8u * 20);
  EXPECT_EQ(program->size() % 8, 0u);  // sizeof(struct sock_filter)
}

}  // namespace
}  // namespace ksearch

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
  for (const char* what : {"gpu-driver", "listed-driver", "logged-driver"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what << ": " << exit.code;
    EXPECT_EQ(exit.code, 0) << what;
  }
}

TEST(TightFilterTest, TheListForGpusHasWhatThatForProcessorsHasAndTheDriversCalls) {
  for (const char* what : {"listed-thread", "listed-honest-means", "listed-own-signal",
                           "listed-old-file", "listed-private-memory", "listed-shared-memory"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what;
    EXPECT_EQ(exit.code, 0) << what;
  }
  for (const char* what : {"listed-other-call",
                           "listed-pipe-of-notifications",
                           "listed-absent-call",
                           "listed-other-request",
                           "listed-new-limit",
                           "listed-written-file",
                           "listed-new-file",
                           "listed-file-lock",
                           "listed-file-watch",
                           "listed-memory-file",
                           "listed-signal-to-another",
                           "listed-second-mapping",
                           "listed-socket",
                           "listed-inet",
                           "listed-fork",
                           "listed-timer",
                           "listed-input-signal",
                           "listed-wide-input-signal",
                           "listed-input-asked-for",
                           "listed-waiting-clone",
                           "listed-kernel-requests",
                           "listed-own-filter",
                           "listed-merged-memory"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what;
    EXPECT_EQ(exit.code, 1) << what;
  }
}

TEST(TightFilterTest, ALogRefusesWhatAttacksUseAndNothingElse) {
  for (const char* what : {"logged-other-call", "logged-new-limit", "logged-written-file",
                           "logged-memory-file", "logged-second-mapping"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what;
    EXPECT_EQ(exit.code, 0) << what;
  }
  for (const char* what : {"logged-socket", "logged-fork", "logged-timer", "logged-input-signal",
                           "logged-waiting-clone", "logged-own-filter"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what;
    EXPECT_EQ(exit.code, 1) << what;
  }
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
  for (const char* what :
       {"honest-means", "own-signal", "barrier-of-its-own", "gpu-other-call", "gpu-new-limit",
        "gpu-written-file", "gpu-signal-to-another", "gpu-second-mapping"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what;
    EXPECT_EQ(exit.code, 0) << what;
  }
  for (const char* what :
       {"other-call", "pipe-of-notifications", "absent-call", "new-limit", "written-file",
        "signal-to-another", "second-mapping", "signal-that-continues",
        "signal-that-stops-a-thread", "barrier-of-the-machine"}) {
    const Subprocess::Exit exit = Try(what);
    EXPECT_FALSE(exit.signaled) << what;
    EXPECT_EQ(exit.code, 1) << what;
  }
}

TEST(TightFilterTest, KillsWhatWouldEscape) {
  for (const char* what : {"exec", "ptrace", "gpu-exec", "gpu-ptrace", "listed-exec",
                           "listed-ptrace", "logged-exec", "logged-ptrace"}) {
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

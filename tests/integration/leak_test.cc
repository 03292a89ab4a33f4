// Many evaluations through one worker leave nothing behind: memory, descriptors, processes, files
// and control groups are as many at the end as they were early on.
//
// Evaluations (default 60, of which the first 20 warm up):
//   KSEARCH_LEAK_EVALUATIONS=500 integration_leak_test
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/textproto.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

// Allocators keep freed memory; a leak of one page per evaluation would show.
[[maybe_unused]] constexpr int64_t kMemorySlackKib = 4096;

// Allows for a connection more or less; a leak of one descriptor per evaluation would show.
constexpr int kFdSlack = 2;

struct Usage {
  int64_t worker_kib = 0, verifier_kib = 0;
  int worker_fds = 0, verifier_fds = 0;
  int processes = 0;
  int files = 0;    // of the state folder, without the build cache, whose size has a limit
  int cgroups = 0;  // of jobs
};

int Count(const std::string& folder) {
  std::error_code error;
  int entries = 0;
  for (fs::directory_iterator it(folder, error), end; it != end; it.increment(error)) ++entries;
  return entries;
}

int64_t ResidentKib(pid_t pid) {
  const std::string text = ReadFile(absl::StrCat("/proc/", pid, "/status"), 1 << 16).value_or("");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, "VmRSS:")) continue;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    int64_t kib = 0;
    if (words.size() > 1 && absl::SimpleAtoi(words[1], &kib)) return kib;
  }
  return 0;
}

class LeakTest : public testing::Test {
 protected:
  void Evaluate(int number) {
    // Mostly programs that were built before, since there are more jobs than programs in a search;
    // every fifth is new, some do not pass, some are timed or
    // confirmed.
    const std::string task = "tests/integration/data/tasks/small_softmax_f32";
    std::string path = LocalCluster::SourcePath(task + "/reference.cpp");
    int expected = 0;
    std::vector<std::string> args = {"eval", "--task", "small_softmax_f32", "--repeat"};
    switch (number % 5) {
      case 1:
        path = LocalCluster::SourcePath("tests/bad_candidates/cpu/softmax_rows_f32/zeros.cpp");
        expected = 7;
        break;
      case 2:
        path = Write("crash.cpp",
                     "#include <ksearch_task.h>\n"
                     "int ksearch_run(const KsearchArgs*) { __builtin_trap(); }\n");
        expected = 7;
        break;
      case 3:
        path = Write("new.cpp",
                     absl::StrCat("// ", number, "\n", ReadFile(path, 1 << 20).value_or("")));
        break;
      default:
        break;
    }
    if (number % 5 != 4) args.push_back("--check");
    if (number % 10 == 9) args.push_back("--confirm");
    args.push_back(path);
    const CommandOutput output = cluster_.Cli(args, absl::Minutes(10));
    ASSERT_EQ(output.exit.code, expected) << number << "\n" << output.out << output.err;
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = cluster_.folder() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  Usage Now() {
    Usage usage;
    std::vector<pid_t> owners;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      int pid = 0;
      if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
      const std::string command =
          ReadFile(entry.path().string() + "/cmdline", 1 << 20).value_or("");
      if (!absl::StrContains(command, cluster_.folder())) continue;
      ++usage.processes;
      const std::string fds = entry.path().string() + "/fd";
      if (absl::StartsWith(command, cluster_.BinaryPath("ksearch-worker"))) {
        usage.worker_kib = ResidentKib(pid);
        usage.worker_fds = Count(fds);
        owners.push_back(pid);
      } else if (absl::StartsWith(command, cluster_.BinaryPath("ksearch-verifier"))) {
        usage.verifier_kib = ResidentKib(pid);
        usage.verifier_fds = Count(fds);
        owners.push_back(pid);
      }
    }
    const auto skip = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator it(cluster_.folder() + "/w1", skip, ignored), end;
         it != end; it.increment(ignored)) {
      usage.files += !absl::StrContains(it->path().string(), "/build_cache/");
    }
    for (fs::recursive_directory_iterator it("/sys/fs/cgroup", skip, ignored), end; it != end;
         it.increment(ignored)) {
      for (const pid_t pid : owners) {
        usage.cgroups +=
            absl::StartsWith(it->path().filename().string(), absl::StrCat("job-", pid, "-"));
      }
    }
    std::printf(
        "worker %lld KiB %d fds, verifier %lld KiB %d fds, %d processes, %d files, "
        "%d cgroups\n",
        static_cast<long long>(usage.worker_kib), usage.worker_fds,
        static_cast<long long>(usage.verifier_kib), usage.verifier_fds, usage.processes,
        usage.files, usage.cgroups);
    std::fflush(stdout);
    return usage;
  }
  // The coordinator has a result before the worker has cleared up behind it.
  Usage Settled(const Usage& like) {
    Usage usage = Now();
    for (int tries = 0; tries < 150; ++tries) {
      if (usage.processes <= like.processes && usage.files <= like.files &&
          usage.cgroups <= like.cgroups && usage.worker_fds <= like.worker_fds &&
          usage.verifier_fds <= like.verifier_fds) {
        break;
      }
      absl::SleepFor(absl::Milliseconds(200));
      usage = Now();
    }
    return usage;
  }

  LocalCluster cluster_;
};

TEST_F(LeakTest, ManyEvaluationsLeaveNothingBehind) {
  int evaluations = 60;
  const char* wanted = std::getenv("KSEARCH_LEAK_EVALUATIONS");
  if (wanted != nullptr) {
    ASSERT_TRUE(absl::SimpleAtoi(wanted, &evaluations));
  }
  cluster_.UseOwnDevice();
  cluster_.StartCoordinator("", LocalCluster::SourcePath("tests/integration/data/tasks"));
  cluster_.StartWorker("w1");
  // The first third fills caches and the allocator's arenas.
  const int warm_up = std::min(evaluations / 3, 100);
  for (int i = 0; i < warm_up && !HasFatalFailure(); ++i) Evaluate(i);
  absl::SleepFor(absl::Seconds(2));
  const Usage early = Now();
  ASSERT_GT(early.worker_kib, 0);
  ASSERT_GT(early.verifier_kib, 0);
  for (int i = warm_up; i < evaluations && !HasFatalFailure(); ++i) {
    Evaluate(i);
    if (i % 100 == 0) Now();  // prints progress
  }
  const Usage late = Settled(early);
#ifndef KSEARCH_SANITIZED  // sanitizers keep freed memory for a while
  EXPECT_LE(late.worker_kib, early.worker_kib + kMemorySlackKib);
  EXPECT_LE(late.verifier_kib, early.verifier_kib + kMemorySlackKib);
#endif
  EXPECT_LE(late.worker_fds, early.worker_fds + kFdSlack);
  EXPECT_LE(late.verifier_fds, early.verifier_fds + kFdSlack);
  EXPECT_LE(late.processes, early.processes);
  EXPECT_LE(late.files, early.files);
  EXPECT_LE(late.cgroups, early.cgroups);
}

}  // namespace
}  // namespace ksearch

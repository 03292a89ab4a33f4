// The tracer of system calls and the sandbox that uses it, without a GPU.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/sandbox/gpu_driver_allow_list.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "tests/gpu/system_calls/call_rows.h"
#include "tests/gpu/system_calls/tracing_sandbox.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Not;
using ::testing::StartsWith;

class Report {
 public:
  Report() : path_(absl::StrCat(ScratchFolder(), "/calls-", RandomHex(8))) {}
  UniqueFd Open() const {
    UniqueFd file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    CHECK(file.ok());
    return file;
  }
  std::set<std::string> Lines() const {
    const absl::StatusOr<std::string> text = ReadFile(path_, int64_t{1} << 20);
    CHECK_OK(text.status());
    return absl::StrSplit(*text, '\n', absl::SkipEmpty());
  }

 private:
  const std::string path_;
};

class SystemCallTracerTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef KSEARCH_SANITIZED
    GTEST_SKIP() << "a sanitizer has calls of its own";
#endif
  }
};

// Returns the calls that ksearch-tight-filter-program makes for `word`.
std::set<std::string> Traced(const std::string& word, const std::string& list) {
  const Report report;
  const UniqueFd file = report.Open();
  SubprocessOptions options;
  options.argv = {CopiedProgram("ksearch-system-call-tracer"), "5", list,
                  CopiedProgram("ksearch-tight-filter-program"), word};
  options.inherited_fds = {{file.get(), 5}};
  auto process = Subprocess::Start(options);
  CHECK_OK(process.status());
  const auto exit = (*process)->Wait(Clock::Real().SteadyNow() + absl::Seconds(30));
  EXPECT_TRUE(exit.has_value()) << word;
  // The same result as without a tracer.
  EXPECT_EQ(exit.has_value() ? exit->code : -1, 0) << word;
  return report.Lines();
}

TEST_F(SystemCallTracerTest, TellsWhatAProgramCallsUnderItsFilterAndWhatTheListSays) {
  EXPECT_THAT(
      Traced("gpu-honest-means", "gpu-driver"),
      AllOf(Each(StartsWith("allowed  ")), Contains("allowed  mmap protection=0x3 flags=0x22"),
            Contains(StartsWith("allowed  clone flags=0x")), Contains("allowed  prlimit64 reads"),
            Contains("allowed  exit_group")));
  EXPECT_THAT(
      Traced("gpu-driver", "gpu-driver"),
      AllOf(Each(StartsWith("allowed  ")), Contains("allowed  ioctl request=0xc020462a"),
            Contains("allowed  ioctl request=0x21"), Contains("allowed  ioctl request=0x30000001"),
            Contains("allowed  openat flags=0x80002"),
            Contains("allowed  fcntl command=0x4 flags=0x800")));
  EXPECT_THAT(Traced("gpu-driver", "processors"),
              AllOf(Contains("refused  ioctl request=0xc020462a"), Contains("allowed  poll")));
  EXPECT_THAT(Traced("gpu-other-call", "gpu-driver"), Contains("refused  socketpair family=0x1"));
  EXPECT_THAT(Traced("gpu-memory-file", "gpu-driver"), Contains("refused  memfd_create flags=0x1"));
  EXPECT_THAT(Traced("gpu-signal-to-another", "gpu-driver"), Contains("refused  kill who=another"));
  EXPECT_THAT(Traced("logged-nothing", "gpu-driver"), Each(StartsWith("allowed  ")));
  EXPECT_THAT(Traced("logged-new-limit", "gpu-driver"), Contains("refused  prlimit64 sets"));
}

TEST_F(SystemCallTracerTest, LeavesOutWhatComesBeforeTheFilter) {
  const std::set<std::string> lines = Traced("gpu-nothing", "gpu-driver");
  EXPECT_THAT(lines, Contains("allowed  exit_group"));
  // The loader makes these before the filter exists.
  EXPECT_THAT(lines, Not(Contains(StartsWith("allowed  openat"))));
  EXPECT_THAT(lines, Not(Contains(StartsWith("refused"))));
}

// Tests the list itself and the filter made from it.
TEST(CallListTest, LooksAtTheArgumentsThatTheKernelLooksAt) {
  const CallList list(GpuDriverAllowList(7));
  const auto has = [&](const char* name, std::array<uint64_t, 6> arguments) {
    const CallList named(std::vector<AllowedCall>{{name, {}}});
    for (int number = 0; number < 500; ++number) {
      if (named.Has({number, {}})) return list.Has({number, arguments});
    }
    ADD_FAILURE() << name << " is no call";
    return false;
  };
  EXPECT_TRUE(has("kill", {7}));
  EXPECT_FALSE(has("kill", {8}));
  EXPECT_TRUE(has("ioctl", {3, 0xc020462a}));
  EXPECT_TRUE(has("ioctl", {3, uint64_t{1} << 32 | 33}));
  EXPECT_FALSE(has("ioctl", {3, 0x5412}));  // TIOCSTI
  EXPECT_FALSE(has("ioctl", {3, 0x30000003}));
  EXPECT_TRUE(has("openat", {0, 0, O_RDWR | O_CLOEXEC}));
  EXPECT_FALSE(has("openat", {0, 0, O_RDWR | O_CREAT}));
  EXPECT_FALSE(has("openat", {0, 0, O_WRONLY}));
  EXPECT_TRUE(has("fcntl", {0, F_SETFL, O_NONBLOCK}));
  EXPECT_FALSE(has("fcntl", {0, F_SETFL, O_ASYNC}));
  EXPECT_FALSE(has("memfd_create", {}));
}

TEST(TracingSandboxTest, ARunnerIsTracedAsItWorksInItsSandbox) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  ::setenv("KSEARCH_BIN_DIR", (ScratchFolder() + "/bin").c_str(), 1);
  auto inner = MakeSandbox(v1::SandboxSettings());
  ASSERT_TRUE(inner.ok()) << inner.status();
  const Report report;
  TracingSandbox sandbox(*std::move(inner), CopiedProgram("ksearch-system-call-tracer"),
                         "processors", report.Open());
  RunnerStarter starter(sandbox, CopiedProgram("ksearch-runner"), v1::SandboxSettings(),
                        Clock::Real());
  Bench::Options options;
  options.last_level_cache_bytes = 256 << 10;
  Bench bench(starter, MemfdBufferSets::Create, Clock::Real(), std::move(options));
  JobVerifier verifier(bench, [](const v1::VerifierReply::Progress&) {});
  v1::VerifierRequest request = ScreenRequest("honest_threads");
  request.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
  request.clear_baseline();
  const auto verdict = verifier.Verify(request);
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->outcome(), v1::OUTCOME_PASSED) << verdict->message();
  EXPECT_TRUE(verdict->isolation().tight_seccomp());
  EXPECT_TRUE(verdict->isolation().allow_list());
  EXPECT_THAT(report.Lines(),
              AllOf(Each(StartsWith("allowed  ")), Contains("allowed  recvmsg"),
                    Contains("allowed  sendto"), Contains(StartsWith("allowed  clone flags=0x"))));
}

}  // namespace
}  // namespace ksearch

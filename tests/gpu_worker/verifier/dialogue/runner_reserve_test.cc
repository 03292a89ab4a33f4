// Runners of programs in Python that are started before they are needed, under the real sandbox.
// Skipped where /usr/bin/python3 has no torch.
#include "gpu_worker/verifier/dialogue/runner_reserve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/measure_defaults.h"
#include "common/textproto.h"
#include "common/unique_fd.h"
#include "tests/common/python_with_torch.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"
#include "tests/gpu_worker/verifier/matmul_task.h"
#include "tests/gpu_worker/verifier/python_programs.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kProduct[] = "import torch\ndef run(a, b, c):\n  torch.mm(a, b, out=c)\n";
// A program whose loading error reports what it sees of its folder and of other processes.
constexpr char kLooksAround[] = R"(
import os
seen = sorted(os.path.join(at, name) for at, _, names in os.walk('/program') for name in names)
others = [pid for pid in os.listdir('/proc') if pid.isdigit() and int(pid) not in (1, os.getpid())]
raise ValueError('sees %s and the processes %s' % (seen, others))
)";

// The runners that wait in this reserve, by their folders.
std::vector<std::string> Slots() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& one : fs::directory_iterator(PythonPrograms::SlotFolder(), ignored)) {
    names.push_back(one.path().filename().string());
  }
  return names;
}

// Interpreters of runners that are below this process.
std::vector<pid_t> Runners(pid_t above) {
  std::vector<pid_t> found;
  for (const auto& one : fs::directory_iterator("/proc")) {
    int pid = 0;
    if (!absl::SimpleAtoi(one.path().filename().string(), &pid)) continue;
    const std::string command = ReadFile(one.path() / "cmdline", 1 << 16).value_or("");
    if (!absl::StartsWith(command, kPython) || !absl::StrContains(command, "--in-advance")) {
      continue;
    }
    // Its ancestors: of this machine many tests may run.
    for (int at = pid; at > 1;) {
      if (at == above) {
        found.push_back(pid);
        break;
      }
      const std::string stat = ReadFile(absl::StrCat("/proc/", at, "/stat"), 1 << 12).value_or("");
      const size_t name_end = stat.rfind(") ");
      if (name_end == std::string::npos || stat.size() < name_end + 4) break;
      const absl::string_view rest = absl::string_view(stat).substr(name_end + 4);
      if (!absl::SimpleAtoi(rest.substr(0, rest.find(' ')), &at)) break;
    }
  }
  return found;
}

UniqueFd Process(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

void AwaitEnd(const UniqueFd& process) {
  struct pollfd ended = {process.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 30'000), 1) << "it has not ended";
}

class RunnerReserveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasTorch()) GTEST_SKIP() << kPython << " has no torch";
    programs_ = std::make_unique<PythonPrograms>();
  }
  v1::VerifierRequest Check(const std::string& text) {
    return programs_->Request(v1::JOB_KIND_CHECK, text);
  }
  // Waits as a GPU's verifier does between jobs.
  void FillAndWait() {
    programs_->starter().FillReserve();
    programs_->starter().Settle();
  }

  std::unique_ptr<PythonPrograms> programs_;
};

TEST_F(RunnerReserveTest, TheNextJobTakesWhatWaitsAndEachServesOneProgram) {
  EXPECT_EQ(programs_->Verify(Check(kProduct)).outcome(), v1::OUTCOME_PASSED);
  EXPECT_THAT(Slots(), IsEmpty());  // it was removed with its runner
  FillAndWait();
  const std::vector<pid_t> waiting = Runners(::getpid());
  const std::vector<std::string> first = Slots();
  ASSERT_THAT(waiting, SizeIs(2));
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_TRUE(fs::is_empty(PythonPrograms::SlotFolder() + "/" + first[0]));
  const v1::Verdict verdict = programs_->Verify(Check(kProduct));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_TRUE(verdict.isolation().tight_seccomp());
  // None was started for this job, and the one it took is gone.
  const std::vector<std::string> left = Slots();
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_THAT(first, Contains(left[0]));
  EXPECT_THAT(waiting, Contains(Runners(::getpid()).at(0)));
  FillAndWait();
  EXPECT_THAT(Runners(::getpid()), SizeIs(2));
  EXPECT_THAT(Slots(), Contains(left[0]));
  programs_->starter().DropReserve();
  EXPECT_THAT(Slots(), IsEmpty());
}

TEST_F(RunnerReserveTest, AProgramSeesItsOwnFilesAloneAndNoOtherRunner) {
  programs_->Verify(Check(kProduct));
  FillAndWait();
  // Another kind, by its limits, so that one waits beside it.
  v1::VerifierRequest other = Check(kLooksAround);
  other.mutable_job()->mutable_limits()->set_memory_bytes(int64_t{3} << 30);
  const v1::Verdict verdict = programs_->Verify(other);
  EXPECT_THAT(Slots(), SizeIs(1));
  EXPECT_THAT(Runners(::getpid()), SizeIs(1));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_LOAD_ERROR);
  EXPECT_THAT(verdict.message(),
              HasSubstr("ValueError: sees ['/program/program.py'] and the processes []"));
  EXPECT_THAT(programs_->Verify(Check(kLooksAround)).message(),
              HasSubstr("ValueError: sees ['/program/program.py'] and the processes []"));
}

TEST_F(RunnerReserveTest, AProgramDoesNotSeeWhenItWasBuilt) {
  const std::string text = R"(import os
facts = os.stat(__file__)
raise ValueError(f'{int(facts.st_mtime)} {facts.st_nlink} {facts.st_ctime - os.stat("/program").st_ctime < 5}')
def run(a, b, c):
    pass
)";
  const v1::VerifierRequest request = Check(text);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(programs_->Verify(request).message(), HasSubstr("ValueError: 1000000000 1 True"));
  }
}

TEST_F(RunnerReserveTest, OneThatWasKilledIsReplaced) {
  programs_->Verify(Check(kProduct));
  FillAndWait();
  const auto kill_all = [] {
    const std::vector<pid_t> waiting = Runners(::getpid());
    ASSERT_THAT(waiting, SizeIs(2));
    for (const pid_t pid : waiting) {
      const UniqueFd process = Process(pid);
      ASSERT_EQ(::kill(pid, SIGKILL), 0);
      AwaitEnd(process);
    }
  };
  kill_all();
  EXPECT_EQ(programs_->Verify(Check(kProduct)).outcome(), v1::OUTCOME_PASSED);
  FillAndWait();
  kill_all();
  FillAndWait();
  EXPECT_THAT(Runners(::getpid()), SizeIs(2));
  EXPECT_THAT(Slots(), SizeIs(2));
}

TEST_F(RunnerReserveTest, NoMoreWaitThanMayAndWhatIsWantedLastStays) {
  for (const int gib : {3, 4, 5}) {
    v1::VerifierRequest request = Check("import no_such_module\n");
    request.mutable_job()->mutable_limits()->set_memory_bytes(int64_t{gib} << 30);
    EXPECT_EQ(programs_->Verify(request).outcome(), v1::OUTCOME_LOAD_ERROR);
  }
  FillAndWait();
  EXPECT_THAT(Slots(), SizeIs(2));
  v1::Limits limits = WithDefaults(v1::Limits());
  limits.set_memory_bytes(int64_t{6} << 30);
  programs_->starter().Foresee(programs_->Program(kProduct).runner(), limits);
  EXPECT_THAT(Slots(), SizeIs(2));
  programs_->starter().Settle();
}

TEST_F(RunnerReserveTest, AWarmStageAndWhatFollowsTakeTheirRunnersToo) {
  const std::string text =
      "import os, torch\n"
      "path = os.environ['TRITON_CACHE_DIR'] + '/kernel-%d'\n"
      "def run(a, b, c):\n"
      "  if not os.path.exists(path % a.shape[0]):\n"
      "    open(path % a.shape[0], 'x').close()\n"
      "  torch.mm(a, b, out=c)\n";
  for (const char* const comment : {"# first\n", "# second\n"}) {
    v1::VerifierRequest request = Check(text + comment);
    (*request.mutable_candidate()
          ->mutable_runner()
          ->mutable_compiled_folders())["TRITON_CACHE_DIR"] = "triton";
    EXPECT_EQ(programs_->Verify(request).outcome(), v1::OUTCOME_PASSED);
    EXPECT_THAT(Runners(::getpid()), IsEmpty());
    FillAndWait();
    EXPECT_THAT(Runners(::getpid()), SizeIs(2));
  }
}

TEST_F(RunnerReserveTest, NoneOutlivesItsVerifierAndFoldersThatAreLeftAreRemoved) {
  programs_.reset();
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t verifier = ::fork();
  if (verifier == 0) {
    PythonPrograms programs;
    v1::Limits limits = WithDefaults(v1::Limits());
    programs.starter().Foresee(programs.Program(kProduct).runner(), limits);
    programs.starter().Settle();
    if (::write(pipe[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  ::close(pipe[1]);
  char ready = 0;
  EXPECT_EQ(::read(pipe[0], &ready, 1), 1);
  ::close(pipe[0]);
  const std::vector<pid_t> runners = Runners(verifier);
  ASSERT_THAT(runners, SizeIs(1));
  EXPECT_THAT(Slots(), SizeIs(1));
  const UniqueFd runner = Process(runners[0]);
  ASSERT_EQ(::kill(verifier, SIGKILL), 0);
  ASSERT_EQ(::waitpid(verifier, nullptr, 0), verifier);
  AwaitEnd(runner);
  PythonPrograms next;
  EXPECT_THAT(Slots(), IsEmpty());
}

}  // namespace
}  // namespace ksearch

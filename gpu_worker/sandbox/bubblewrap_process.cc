#include "gpu_worker/sandbox/bubblewrap_process.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// Killed processes close the output pipe within milliseconds; one stuck in the kernel may not.
constexpr absl::Duration kOutputGrace = absl::Seconds(2);

}  // namespace

std::optional<int64_t> MachineOutOfMemoryKills() {
  const std::string text = ReadFile("/proc/vmstat", 1 << 16).value_or("");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    int64_t kills = 0;
    if (absl::ConsumePrefix(&line, "oom_kill ") && absl::SimpleAtoi(line, &kills)) return kills;
  }
  return std::nullopt;
}

BubblewrapProcess::~BubblewrapProcess() {
  Kill();
  if (process_ != nullptr) process_->Wait(absl::InfiniteFuture());
  capture_.reset();  // its thread may call Kill
  MutexLock lock(&mu_);
  attached_ = nullptr;
}

absl::Status BubblewrapProcess::StartCapture(int64_t keep_bytes) {
  ASSIGN_OR_RETURN(capture_, OutputCapture::Start(keep_bytes, [this] { Kill(); }));
  return absl::OkStatus();
}

void BubblewrapProcess::Attach(std::unique_ptr<Subprocess> process) {
  process_ = std::move(process);
  capture_->CloseWriteEnd();
  bool kill_now = false;
  {
    MutexLock lock(&mu_);
    attached_ = process_.get();
    kill_now = kill_asked_;
  }
  if (kill_now) Kill();
}

void BubblewrapProcess::Kill() {
  MutexLock lock(&mu_);
  kill_asked_ = true;
  if (attached_ == nullptr) return;
  attached_->Kill();
  if (cgroup_ != nullptr) cgroup_->Kill();
}

std::optional<SandboxExit> BubblewrapProcess::Wait(absl::Time deadline) {
  if (exit_.has_value()) return exit_;
  const std::optional<Subprocess::Exit> ended = process_->Wait(deadline);
  if (!ended.has_value()) return std::nullopt;
  SandboxExit exit;
  exit.signaled = ended->signaled;
  exit.code = ended->code;
  if (!exit.signaled && exit.code > 128 && exit.code <= 128 + SIGRTMAX) {
    exit.signaled = true;
    exit.code -= 128;
  }
  if (cgroup_ != nullptr) {
    exit.memory_limit_hit = cgroup_->memory_limit_hit();
    exit.machine_out_of_memory = cgroup_->machine_out_of_memory();
    cgroup_->Kill();
  } else {
    const std::optional<int64_t> kills = MachineOutOfMemoryKills();
    exit.machine_out_of_memory =
        kills.has_value() && machine_kills_before_.has_value() && *kills > *machine_kills_before_;
  }
  OutputCapture::Captured captured = capture_->Finish(kOutputGrace);
  exit.output = std::move(captured.text);
  exit.output_truncated = captured.truncated;
  exit.output_limit_hit = captured.flooded;
  // A killed bubblewrap reports nothing, and its program may or may not have begun.
  exit.setup_failed = !ended->signaled && !ProgramRan();
  exit_ = std::move(exit);
  return exit_;
}

bool BubblewrapProcess::ProgramRan() {
  // bubblewrap has ended, so all its output is in the pipe: two short JSON lines.
  char text[4096];
  size_t filled = 0;
  while (filled < sizeof text) {
    const ssize_t n = ::read(status_.get(), text + filled, sizeof text - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    filled += static_cast<size_t>(n);
  }
  return absl::StrContains(absl::string_view(text, filled), "exit-code");
}

}  // namespace ksearch

#include "cli/local/daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/unique_fd.h"

namespace ksearch {
namespace {

// A log that has grown this large is rotated at the next start; one old log is kept.
constexpr off_t kLargeLog = off_t{16} << 20;
constexpr int64_t kTailBytes = 64 << 10;
// A process that takes the lock writes its id right after that.
constexpr absl::Duration kIdWithin = absl::Seconds(2);
constexpr absl::Duration kRetry = absl::Milliseconds(10);
constexpr absl::Duration kKilledWithin = absl::Seconds(20);
constexpr size_t kCommBytes = 15;  // how much of a process name the kernel keeps

void Sleep(absl::Duration time) { std::this_thread::sleep_for(absl::ToChronoNanoseconds(time)); }

// Returns true if process `pid` runs this program.
bool Runs(pid_t pid, const std::string& program) {
  const auto comm = ReadFile(absl::StrCat("/proc/", pid, "/comm"), 64);
  return comm.ok() && absl::StripAsciiWhitespace(*comm) == program.substr(0, kCommBytes);
}

// True once the process has ended.
bool WaitForEnd(int pidfd, absl::Duration patience) {
  const absl::Time deadline = Clock::Real().SteadyNow() + patience;
  while (true) {
    const absl::Duration left = deadline - Clock::Real().SteadyNow();
    pollfd ended = {pidfd, POLLIN, 0};
    const int millis = static_cast<int>(
        absl::ToInt64Milliseconds(std::clamp(left, absl::ZeroDuration(), absl::Minutes(1))));
    if (::poll(&ended, 1, millis) > 0) return true;
    if (left <= absl::ZeroDuration()) return false;
  }
}

}  // namespace

std::string Daemon::name() const { return files_.program.substr(files_.program.rfind('/') + 1); }

absl::StatusOr<std::optional<pid_t>> Daemon::Running() const {
  const UniqueFd lock(::open(files_.lock.c_str(), O_RDONLY | O_CLOEXEC));
  if (!lock.ok()) {
    if (errno == ENOENT) return std::nullopt;
    return ErrnoStatus(errno, absl::StrCat("open ", files_.lock));
  }
  const absl::Time give_up = Clock::Real().SteadyNow() + kIdWithin;
  std::string text;
  while (true) {
    if (::flock(lock.get(), LOCK_SH | LOCK_NB) == 0) return std::nullopt;  // closing releases it
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return ErrnoStatus(errno, absl::StrCat("lock ", files_.lock));
    }
    pid_t pid = 0;
    text = ReadFile(files_.lock, 64).value_or("");
    if (absl::SimpleAtoi(text, &pid) && pid > 0 && Runs(pid, name())) return pid;
    if (Clock::Real().SteadyNow() >= give_up) break;
    Sleep(kRetry);
  }
  return absl::FailedPreconditionError(
      absl::StrCat("a process that is not visible from here holds ", files_.lock,
                   " (it says it is process ", absl::StripAsciiWhitespace(text), "): a ", name(),
                   " of another container or machine? Stop it there, or give --state-dir"));
}

absl::Status Daemon::Start(const std::vector<std::string>& arguments,
                           const Environment& environment) {
  struct stat facts;
  if (::stat(files_.log.c_str(), &facts) == 0 && facts.st_size > kLargeLog) {
    (void)::rename(files_.log.c_str(), (files_.log + ".1").c_str());
  }
  const UniqueFd log(
      ::open(files_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!log.ok()) return ErrnoStatus(errno, absl::StrCat("open ", files_.log));
  log_begin_ = ::fstat(log.get(), &facts) == 0 ? facts.st_size : 0;
  SubprocessOptions options;
  options.argv = {files_.program};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.environment = environment;
  options.working_directory = files_.working_directory;
  options.inherited_fds = {{log.get(), 1}, {log.get(), 2}};
  options.die_with_parent = false;
  options.new_session = true;
  ASSIGN_OR_RETURN(started_, Subprocess::Start(options));
  started_->LeaveRunning();
  return absl::OkStatus();
}

std::optional<std::string> Daemon::Ended() {
  if (started_ == nullptr) {
    const auto pid = Running();
    if (!pid.ok() || pid->has_value()) return std::nullopt;
    return absl::StrCat(name(), " has ended");
  }
  const auto exit = started_->Wait(absl::InfinitePast());
  if (!exit.has_value()) return std::nullopt;
  return absl::StrCat(name(), " ended with ", exit->signaled ? "signal " : "code ", exit->code);
}

std::vector<std::string> Daemon::LastLines(size_t count) const {
  const UniqueFd log(::open(files_.log.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts;
  if (!log.ok() || ::fstat(log.get(), &facts) != 0) return {};
  const int64_t begin = std::max<int64_t>(log_begin_, facts.st_size - kTailBytes);
  std::string text(static_cast<size_t>(std::max<int64_t>(facts.st_size - begin, 0)), '\0');
  const ssize_t size = ::pread(log.get(), text.data(), text.size(), begin);
  text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<ssize_t>(count));
  return lines;
}

absl::StatusOr<bool> Daemon::Stop(absl::Duration patience) const {
  ASSIGN_OR_RETURN(const std::optional<pid_t> pid, Running());
  if (!pid.has_value()) return true;
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
  if (!process.ok()) {
    if (errno == ESRCH) return true;
    return ErrnoStatus(errno, absl::StrCat("check process ", *pid));
  }
  // Another process may have got this id before the handle was opened.
  ASSIGN_OR_RETURN(const std::optional<pid_t> again, Running());
  if (again != pid) return true;
  const auto send = [&process](int signal) {
    return ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0 ||
           errno == ESRCH;
  };
  bool by_itself = false;
  if (patience > absl::ZeroDuration()) {
    if (!send(SIGTERM)) return ErrnoStatus(errno, absl::StrCat("stop process ", *pid));
    by_itself = WaitForEnd(process.get(), patience);
  }
  if (!by_itself) {
    if (!send(SIGKILL)) return ErrnoStatus(errno, absl::StrCat("end process ", *pid));
    if (!WaitForEnd(process.get(), kKilledWithin)) {
      return absl::DeadlineExceededError(
          absl::StrCat(name(), " (process ", *pid, ") does not end"));
    }
  }
  return by_itself;
}

}  // namespace ksearch

#include "common/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

int PollMillis(absl::Time deadline) {
  const absl::Duration left = deadline - Clock::Real().SteadyNow();
  if (left <= absl::ZeroDuration()) return 0;
  return static_cast<int>(absl::ToInt64Milliseconds(std::min(left, absl::Minutes(1)))) + 1;
}

// Everything below runs between fork and exec: async-signal-safe calls only, no allocation.
struct ChildPlan {
  const char* path;
  char* const* argv;
  char* const* envp;
  const char* working_directory;
  const std::pair<int, int>* fds;
  size_t fd_count;
  const std::pair<int, rlim_t>* limits;
  size_t limit_count;
  const int* cgroups;
  size_t cgroup_count;
  int highest_target;
  int error_fd;
  pid_t parent;
  int niceness;
  bool die_with_parent;
  bool new_session;
};

[[noreturn]] void FailInChild(const ChildPlan& plan) {
  const int error_number = errno;
  [[maybe_unused]] const ssize_t n = ::write(plan.error_fd, &error_number, sizeof error_number);
  _exit(127);
}

// Where the kernel shares processors between sessions first (sched(7), "autogroup"), a process's
// niceness counts within its session only, and the session has one of its own. A user without
// privileges may set one every 100 ms; so that many children at once all get theirs, this tries
// again for a while.
void SetNicenessOfSession(int niceness) {
  const int fd = ::open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;  // the kernel has no such thing
  char text[] = "00";
  text[0] = static_cast<char>('0' + niceness / 10);
  text[1] = static_cast<char>('0' + niceness % 10);
  for (int tries = 0; tries < 20; ++tries) {
    if (::write(fd, text, 2) == 2 || errno != EAGAIN) break;
    const struct timespec pause = {0, 25'000'000};
    ::nanosleep(&pause, nullptr);
  }
  ::close(fd);
}

[[noreturn]] void RunChild(const ChildPlan& plan) {
  if (plan.new_session) {
    ::setsid();
  } else {
    ::setpgid(0, 0);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  for (size_t i = 0; i < plan.cgroup_count; ++i) {
    if (::write(plan.cgroups[i], "0", 1) != 1) FailInChild(plan);
  }
  // First move sources out of the way of targets, then put each in place.
  const int base = std::max(plan.highest_target, 2) + 1;
  int moved[64];
  for (size_t i = 0; i < plan.fd_count; ++i) {
    moved[i] = ::fcntl(plan.fds[i].first, F_DUPFD_CLOEXEC, base);
    if (moved[i] < 0) FailInChild(plan);
  }
  const int error_fd = ::fcntl(plan.error_fd, F_DUPFD_CLOEXEC, base);
  ChildPlan late = plan;
  late.error_fd = error_fd;
  const int null_fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2; ++fd) ::dup2(null_fd, fd);
  for (size_t i = 0; i < plan.fd_count; ++i) {
    if (::dup2(moved[i], plan.fds[i].second) < 0) FailInChild(late);
  }
  // Everything that was not asked for closes at exec (inherited fds without CLOEXEC too).
  ::syscall(SYS_close_range, static_cast<unsigned>(base), ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  for (int fd = 3; fd < base; ++fd) {
    bool wanted = false;
    for (size_t i = 0; i < plan.fd_count; ++i) wanted |= plan.fds[i].second == fd;
    if (!wanted && fd != error_fd) ::close(fd);
  }
  for (size_t i = 0; i < plan.limit_count; ++i) {
    const struct rlimit limit = {plan.limits[i].second, plan.limits[i].second};
    if (::setrlimit(static_cast<__rlimit_resource_t>(plan.limits[i].first), &limit) != 0) {
      FailInChild(late);
    }
  }
  if (plan.niceness != 0) {
    ::setpriority(PRIO_PROCESS, 0, plan.niceness);
    if (plan.new_session) SetNicenessOfSession(plan.niceness);
  }
  if (plan.working_directory != nullptr && ::chdir(plan.working_directory) != 0) FailInChild(late);
  if (plan.die_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan.parent) _exit(127);  // the parent died before prctl
  }
  ::execve(plan.path, plan.argv, plan.envp);
  FailInChild(late);
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& s : strings) pointers.push_back(s.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Subprocess>> Subprocess::Start(const SubprocessOptions& options) {
  if (options.argv.empty()) return absl::InvalidArgumentError("empty argv");
  if (options.inherited_fds.size() > 64) return absl::InvalidArgumentError("more than 64 fds");
  std::string path = options.argv[0];
  if (path.find('/') == std::string::npos) {
    ASSIGN_OR_RETURN(path, FindOnPath(path));
  }
  std::vector<std::string> argv = options.argv;
  std::vector<std::string> env;
  for (const auto& [name, value] : options.environment)
    env.push_back(absl::StrCat(name, "=", value));
  std::vector<char*> argv_pointers = Pointers(argv);
  std::vector<char*> env_pointers = Pointers(env);

  int error_pipe[2];
  if (::pipe2(error_pipe, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  UniqueFd error_read(error_pipe[0]), error_write(error_pipe[1]);

  ChildPlan plan;
  plan.path = path.c_str();
  plan.argv = argv_pointers.data();
  plan.envp = env_pointers.data();
  plan.working_directory =
      options.working_directory.empty() ? nullptr : options.working_directory.c_str();
  plan.fds = options.inherited_fds.data();
  plan.fd_count = options.inherited_fds.size();
  plan.limits = options.limits.data();
  plan.limit_count = options.limits.size();
  plan.niceness = options.niceness;
  plan.cgroups = options.joined_cgroups.data();
  plan.cgroup_count = options.joined_cgroups.size();
  plan.highest_target = 2;
  for (const auto& [from, to] : options.inherited_fds) {
    plan.highest_target = std::max(plan.highest_target, to);
  }
  plan.error_fd = error_write.get();
  plan.parent = ::getpid();
  plan.die_with_parent = options.die_with_parent;
  plan.new_session = options.new_session;

  const pid_t pid = ::fork();
  if (pid < 0) return ErrnoStatus(errno, absl::StrCat("fork for ", argv[0]));
  if (pid == 0) RunChild(plan);
  // The child does the same; whichever comes first counts. A group leader could not start a
  // session.
  if (!options.new_session) ::setpgid(pid, pid);
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  error_write.Reset();
  int error_number = 0;
  ssize_t n;
  do {
    n = ::read(error_read.get(), &error_number, sizeof error_number);
  } while (n < 0 && errno == EINTR);
  auto process = std::unique_ptr<Subprocess>(new Subprocess(pid, std::move(pidfd)));
  if (n == static_cast<ssize_t>(sizeof error_number)) {
    return ErrnoStatus(error_number, absl::StrCat("start ", argv[0]));
  }
  if (process->pidfd() < 0) return absl::InternalError("pidfd_open failed");
  return process;
}

Subprocess::~Subprocess() {
  if (left_running_) return;
  if (exit_.has_value()) {
    ::kill(-pid_, SIGKILL);  // remaining processes of the group
    return;
  }
  Kill();
  Wait(absl::InfiniteFuture());
}

std::optional<Subprocess::Exit> Subprocess::Wait(absl::Time deadline) {
  while (!exit_.has_value()) {
    if (pidfd_.ok()) {
      struct pollfd poll_fd = {pidfd_.get(), POLLIN, 0};
      const int ready = ::poll(&poll_fd, 1, PollMillis(deadline));
      if (ready < 0 && errno != EINTR) return std::nullopt;
      if (ready <= 0) {
        if (Clock::Real().SteadyNow() >= deadline) return std::nullopt;
        continue;
      }
    }
    int status = 0;
    Exit exit;
    const pid_t reaped = ::wait4(pid_, &status, 0, &exit.usage);
    if (reaped < 0 && errno == EINTR) continue;
    exit.signaled = reaped == pid_ && WIFSIGNALED(status);
    exit.code = exit.signaled ? WTERMSIG(status) : WEXITSTATUS(status);
    exit_ = exit;
  }
  return exit_;
}

void Subprocess::Kill() {
  ::kill(-pid_, SIGKILL);
  if (pidfd_.ok()) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
}

absl::StatusOr<CommandOutput> RunCommand(SubprocessOptions options, absl::Duration timeout,
                                         int64_t max_output_bytes) {
  int out_pipe[2], err_pipe[2];
  if (::pipe2(out_pipe, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  UniqueFd out_read(out_pipe[0]), out_write(out_pipe[1]);
  if (::pipe2(err_pipe, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  UniqueFd err_read(err_pipe[0]), err_write(err_pipe[1]);
  options.inherited_fds.emplace_back(out_write.get(), 1);
  options.inherited_fds.emplace_back(err_write.get(), 2);
  ASSIGN_OR_RETURN(auto process, Subprocess::Start(options));
  out_write.Reset();
  err_write.Reset();

  const absl::Time deadline = Clock::Real().SteadyNow() + timeout;
  CommandOutput output;
  std::string buffer(64 << 10, '\0');
  while (out_read.ok() || err_read.ok()) {
    struct pollfd fds[2] = {{out_read.get(), POLLIN, 0}, {err_read.get(), POLLIN, 0}};
    const int ready = ::poll(fds, 2, PollMillis(deadline));
    if (ready < 0 && errno != EINTR) return ErrnoStatus(errno, "poll");
    if (Clock::Real().SteadyNow() >= deadline) {
      output.timed_out = true;
      process->Kill();
      break;
    }
    for (int i = 0; i < 2; ++i) {
      UniqueFd& fd = i == 0 ? out_read : err_read;
      std::string& text = i == 0 ? output.out : output.err;
      if (!fd.ok() || (fds[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        fd.Reset();
        continue;
      }
      const int64_t room = max_output_bytes - static_cast<int64_t>(text.size());
      text.append(buffer.data(),
                  static_cast<size_t>(std::clamp<int64_t>(n, 0, std::max<int64_t>(room, 0))));
      if (n > room) output.out_truncated = true;
    }
  }
  auto exit = process->Wait(output.timed_out ? absl::InfiniteFuture() : deadline);
  if (!exit.has_value()) {
    output.timed_out = true;
    process->Kill();
    exit = process->Wait(absl::InfiniteFuture());
  }
  output.exit = *exit;
  return output;
}

std::string BinaryFolder() {
  std::string path(4096, '\0');
  const ssize_t n = ::readlink("/proc/self/exe", path.data(), path.size());
  if (n <= 0) return ".";
  path.resize(static_cast<size_t>(n));
  return path.substr(0, path.rfind('/'));
}

absl::StatusOr<std::string> FindOnPath(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    if (::access(program.c_str(), X_OK) == 0) return program;
    return absl::NotFoundError(absl::StrCat(program, " is not an executable file"));
  }
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  for (absl::string_view folder :
       absl::StrSplit(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path, ':')) {
    const std::string candidate = absl::StrCat(folder, "/", program);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return absl::NotFoundError(absl::StrCat("program '", program, "' is not on PATH"));
}

}  // namespace ksearch

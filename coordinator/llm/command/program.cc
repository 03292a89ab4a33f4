#include "coordinator/llm/command/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/clock.h"
#include "common/status_macros.h"
#include "common/unique_fd.h"

namespace ksearch {
namespace {

constexpr size_t kErrBytes = 4096;
// How long to read the rest of the pipes after the program has ended.
constexpr absl::Duration kLastWords = absl::Milliseconds(200);

// A file in memory, rewound: unlike a pipe it takes any amount without a reader.
absl::StatusOr<UniqueFd> InputFile(absl::string_view input) {
  UniqueFd fd(::memfd_create("prompt", MFD_CLOEXEC));
  if (!fd.ok()) return ErrnoStatus(errno, "memfd_create");
  for (size_t at = 0; at < input.size();) {
    const ssize_t n = ::write(fd.get(), input.data() + at, input.size() - at);
    if (n < 0 && errno != EINTR) return ErrnoStatus(errno, "write the prompt");
    if (n > 0) at += static_cast<size_t>(n);
  }
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) return ErrnoStatus(errno, "lseek");
  return fd;
}

// Reads once what is available. Closes `fd` at the end of the stream.
std::string ReadSome(UniqueFd* fd) {
  std::string buffer(64 << 10, '\0');
  const ssize_t n = ::read(fd->get(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return "";
  if (n <= 0) fd->Reset();
  buffer.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return buffer;
}

}  // namespace

absl::StatusOr<ProgramOutput> RunWithInput(SubprocessOptions options, absl::string_view input,
                                           absl::Duration timeout, int64_t max_output_bytes,
                                           int stop_fd) {
  ASSIGN_OR_RETURN(const UniqueFd in, InputFile(input));
  int out_pipe[2], err_pipe[2];
  if (::pipe2(out_pipe, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  UniqueFd out_read(out_pipe[0]), out_write(out_pipe[1]);
  if (::pipe2(err_pipe, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  UniqueFd err_read(err_pipe[0]), err_write(err_pipe[1]);
  options.inherited_fds = {{in.get(), 0}, {out_write.get(), 1}, {err_write.get(), 2}};
  ASSIGN_OR_RETURN(const std::unique_ptr<Subprocess> process, Subprocess::Start(options));
  out_write.Reset();
  err_write.Reset();

  const Clock& clock = Clock::Real();
  absl::Time deadline = clock.SteadyNow() + timeout;
  bool ended = false;
  ProgramOutput output;
  while (!ended || out_read.ok() || err_read.ok()) {
    struct pollfd fds[4] = {{out_read.get(), POLLIN, 0},
                            {err_read.get(), POLLIN, 0},
                            {ended ? -1 : process->pidfd(), POLLIN, 0},
                            {stop_fd, POLLIN, 0}};
    const absl::Duration left = std::clamp(deadline - clock.SteadyNow(), absl::ZeroDuration(),
                                           absl::Duration(absl::Minutes(1)));
    const int ready = ::poll(fds, 4, static_cast<int>(absl::ToInt64Milliseconds(left)) + 1);
    if (ready < 0 && errno != EINTR) return ErrnoStatus(errno, "poll");
    if (ready > 0 && fds[3].revents != 0) {
      output.stopped = true;
      break;
    }
    if (clock.SteadyNow() >= deadline) {
      output.timed_out = !ended;
      break;
    }
    if (ready <= 0) continue;
    if (fds[0].revents != 0) output.out += ReadSome(&out_read);
    if (fds[1].revents != 0) {
      output.err += ReadSome(&err_read);
      if (output.err.size() > kErrBytes) output.err.erase(0, output.err.size() - kErrBytes);
    }
    if (static_cast<int64_t>(output.out.size()) > max_output_bytes) {
      output.too_much = true;
      break;
    }
    if (fds[2].revents != 0) {
      ended = true;  // a grandchild may keep the pipes open indefinitely
      deadline = std::min(deadline, clock.SteadyNow() + kLastWords);
    }
  }
  process->Kill();  // the program if it still runs, and all of its group
  output.exit = *process->Wait(absl::InfiniteFuture());
  return output;
}

}  // namespace ksearch

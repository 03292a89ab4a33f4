#include "autoscaler/fleet/program_call.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "common/unique_fd.h"

namespace ksearch {
namespace {

constexpr size_t kMaxLineBytes = 500;
constexpr size_t kMaxOutputBytes = 4 << 20;

absl::StatusOr<UniqueFd> InputOf(const ProgramCall& call) {
  if (!call.input_file.empty()) {
    UniqueFd file(::open(call.input_file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.ok()) {
      return absl::NotFoundError(absl::StrCat("cannot read ", call.input_file));
    }
    return file;
  }
  UniqueFd memory(::memfd_create("input", MFD_CLOEXEC));
  if (!memory.ok()) return absl::UnavailableError("memfd_create failed");
  size_t written = 0;
  while (written < call.input.size()) {
    const ssize_t n =
        ::write(memory.get(), call.input.data() + written, call.input.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return absl::UnavailableError("no memory for a program's input");
    written += static_cast<size_t>(n);
  }
  ::lseek(memory.get(), 0, SEEK_SET);
  return memory;
}

struct Output {
  std::string out, err;
  bool ended = false;  // both streams reached their end
};

// Reads both streams to their end, or until `deadline` (steady clock).
Output ReadBoth(UniqueFd out, UniqueFd err, absl::Time deadline) {
  Output output;
  std::string buffer(64 << 10, '\0');
  while (out.ok() || err.ok()) {
    const absl::Duration left = deadline - Clock::Real().SteadyNow();
    if (left <= absl::ZeroDuration()) return output;
    struct pollfd fds[2] = {{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};
    const int ready = ::poll(
        fds, 2, static_cast<int>(absl::ToInt64Milliseconds(std::min(left, absl::Minutes(1)))) + 1);
    if (ready < 0 && errno != EINTR) return output;
    if (ready <= 0) continue;
    for (int i = 0; i < 2; ++i) {
      UniqueFd& fd = i == 0 ? out : err;
      if (!fd.ok() || (fds[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        fd.Reset();
        continue;
      }
      std::string& text = i == 0 ? output.out : output.err;
      text.append(buffer.data(), std::min(static_cast<size_t>(n), kMaxOutputBytes - text.size()));
    }
  }
  output.ended = true;
  return output;
}

}  // namespace

absl::StatusOr<std::string> CallProgram(const ProgramCall& call) {
  ASSIGN_OR_RETURN(const UniqueFd input, InputOf(call));
  SubprocessOptions options;
  options.argv = call.argv;
  options.environment = BaseEnvironment();
  for (const auto& [name, value] : call.environment) options.environment[name] = value;
  const std::string& program = call.argv[0];
  int out_pipe[2], err_pipe[2];
  if (::pipe2(out_pipe, O_CLOEXEC) != 0) return absl::UnavailableError("no pipe");
  UniqueFd out_read(out_pipe[0]), out_write(out_pipe[1]);
  if (::pipe2(err_pipe, O_CLOEXEC) != 0) return absl::UnavailableError("no pipe");
  UniqueFd err_read(err_pipe[0]), err_write(err_pipe[1]);
  options.inherited_fds = {{input.get(), 0}, {out_write.get(), 1}, {err_write.get(), 2}};
  const absl::Time deadline = Clock::Real().SteadyNow() + call.timeout;
  ASSIGN_OR_RETURN(const auto process, Subprocess::Start(options));
  out_write.Reset();
  err_write.Reset();
  const Output output = ReadBoth(std::move(out_read), std::move(err_read), deadline);
  const auto exit = process->Wait(deadline);
  if (!output.ended || !exit.has_value()) {
    return absl::UnavailableError(absl::StrCat(
        program,
        exit.has_value() ? " left its standard output open for more than " : " did not end within ",
        absl::FormatDuration(call.timeout)));
  }
  // Processes that the program left behind are meant to keep running.
  process->LeaveRunning();
  if (exit->signaled) {
    return absl::UnavailableError(absl::StrCat(program, " was killed by signal ", exit->code));
  }
  if (exit->code != 0) {
    const std::string said = LastLine(output.err);
    return absl::UnavailableError(said.empty() ? absl::StrCat(program, " ended with ", exit->code)
                                               : absl::StrCat(program, ": ", said));
  }
  return output.out;
}

std::map<std::string, std::string> BaseEnvironment() {
  std::map<std::string, std::string> environment;
  for (const char* name : {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "SSH_AUTH_SOCK",
                           "SLURM_CONF", "KUBECONFIG", "XDG_RUNTIME_DIR"}) {
    if (const char* value = std::getenv(name); value != nullptr) environment[name] = value;
  }
  return environment;
}

std::string ShellWord(absl::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string OneLine(absl::string_view text) {
  std::string line(absl::StripAsciiWhitespace(text).substr(0, kMaxLineBytes));
  for (char& c : line) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = ' ';
  }
  return line;
}

std::string LastLine(absl::string_view text) {
  std::string last;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StripAsciiWhitespace(line).empty()) last = OneLine(line);
  }
  return last;
}

bool IsInstanceId(absl::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
         });
}

}  // namespace ksearch

#include "coordinator/store/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// flock has no timed wait. Short against the seconds a coordinator takes to stop.
constexpr absl::Duration kRetryInterval = absl::Milliseconds(20);

std::string Owner(int fd) {
  char text[32];
  const ssize_t size = ::pread(fd, text, sizeof text, 0);
  if (size <= 0) return "unknown";
  return std::string(
      absl::StripAsciiWhitespace(absl::string_view(text, static_cast<size_t>(size))));
}

}  // namespace

absl::StatusOr<FileLock> FileLock::Acquire(const std::string& path, absl::Duration wait) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.ok()) {
    if (errno == EROFS) {
      return absl::PermissionDeniedError(absl::StrCat(path, " is on a read-only file system"));
    }
    return ErrnoStatus(errno, absl::StrCat("open ", path));
  }
  const absl::Time deadline = Clock::Real().SteadyNow() + wait;
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, absl::StrCat("lock ", path));
    if (Clock::Real().SteadyNow() >= deadline) {
      return absl::FailedPreconditionError(absl::StrCat("another coordinator (pid ",
                                                        Owner(fd.get()), ") holds ", path,
                                                        "; stop it or use another state_dir"));
    }
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(kRetryInterval));
  }
  const std::string pid = absl::StrCat(::getpid(), "\n");
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return ErrnoStatus(errno, absl::StrCat("write ", path));
  }
  return FileLock(std::move(fd));
}

}  // namespace ksearch

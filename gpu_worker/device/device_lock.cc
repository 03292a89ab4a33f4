#include "gpu_worker/device/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// flock cannot be waited for together with a stop request, so it is asked again and again. Short
// against a measurement (seconds), long against the call (1 us).
constexpr absl::Duration kAskAgain = absl::Milliseconds(5);

// Each hold has a file description of its own: flock belongs to the description.
absl::StatusOr<UniqueFd> OpenLockFile(const std::string& path) {
  // Without O_CREAT first: in a sticky folder the kernel bars O_CREAT on another account's file.
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.ok() && errno == ENOENT) {
    file.Reset(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  }
  if (!file.ok()) return ErrnoStatus(errno, absl::StrCat("open device lock ", path));
  return file;
}

absl::Status Lock(const UniqueFd& file, int operation, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  while (::flock(file.get(), operation | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return ErrnoStatus(errno, "flock of device lock");
    std::unique_lock<std::mutex> lock(mutex);
    wake.wait_for(lock, stop, absl::ToChronoMilliseconds(kAskAgain), [] { return false; });
    if (stop.stop_requested())
      return absl::CancelledError("cancelled while waiting for the device");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceLock>> DeviceLock::Create(const std::string& path) {
  RETURN_IF_ERROR(OpenLockFile(path).status());
  RETURN_IF_ERROR(OpenLockFile(path + ".gate").status());
  return std::unique_ptr<DeviceLock>(new DeviceLock(path));
}

absl::StatusOr<std::optional<DeviceLock::Hold>> DeviceLock::TryAcquireExclusive() {
  ASSIGN_OR_RETURN(const UniqueFd gate, OpenLockFile(path_ + ".gate"));
  ASSIGN_OR_RETURN(UniqueFd file, OpenLockFile(path_));
  for (const UniqueFd* one : {&gate, static_cast<const UniqueFd*>(&file)}) {
    if (::flock(one->get(), LOCK_EX | LOCK_NB) == 0) continue;
    if (errno == EWOULDBLOCK) return std::optional<Hold>();
    return ErrnoStatus(errno, "flock of device lock");
  }
  return std::optional<Hold>(Hold(std::move(file)));
}

absl::StatusOr<DeviceLock::Hold> DeviceLock::Acquire(Mode mode, std::stop_token stop) {
  if (stop.stop_requested()) return absl::CancelledError("cancelled while waiting for the device");
  // Everyone passes the gate; a process that waits to measure holds it until earlier builds have
  // ended.
  ASSIGN_OR_RETURN(const UniqueFd gate, OpenLockFile(path_ + ".gate"));
  RETURN_IF_ERROR(Lock(gate, LOCK_EX, stop));
  ASSIGN_OR_RETURN(UniqueFd file, OpenLockFile(path_));
  RETURN_IF_ERROR(Lock(file, mode == Mode::kExclusive ? LOCK_EX : LOCK_SH, stop));
  return Hold(std::move(file));
}

}  // namespace ksearch

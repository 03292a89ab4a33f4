#include "gpu_worker/device/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// flock cannot be waited for together with a stop request, so this polls it. Short compared with a
// measurement (seconds), long compared with the call (1 us).
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
  // Every process passes the gate; one that waits to measure holds it until earlier builds have
  // ended.
  ASSIGN_OR_RETURN(const UniqueFd gate, OpenLockFile(path_ + ".gate"));
  RETURN_IF_ERROR(Lock(gate, LOCK_EX, stop));
  ASSIGN_OR_RETURN(UniqueFd file, OpenLockFile(path_));
  RETURN_IF_ERROR(Lock(file, mode == Mode::kExclusive ? LOCK_EX : LOCK_SH, stop));
  return Hold(std::move(file));
}

bool DeviceLock::AwaitedByMeasurement() const {
  const auto gate = OpenLockFile(path_ + ".gate");
  return gate.ok() && ::flock(gate->get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::string DeviceLock::HeldByAnother() const {
  struct stat facts;
  if (::stat(path_.c_str(), &facts) != 0) return "";
  // "12: FLOCK  ADVISORY  WRITE 4711 fe:00:1835011 0 EOF": proc_locks(5).
  const auto locks = ReadFile("/proc/locks", 1 << 20);
  if (!locks.ok()) return "";
  const std::string file =
      absl::StrFormat("%02x:%02x:%d", major(facts.st_dev), minor(facts.st_dev), facts.st_ino);
  for (const absl::string_view line : absl::StrSplit(*locks, '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    int pid = 0;
    if (words.size() < 6 || words[1] != "FLOCK" || words[5] != file ||
        !absl::SimpleAtoi(words[4], &pid) || pid == ::getpid()) {
      continue;
    }
    const auto name = ReadFile(absl::StrCat("/proc/", pid, "/comm"), 256);
    return absl::StrCat("process ", pid,
                        name.ok() ? absl::StrCat(" (", absl::StripSuffix(*name, "\n"), ")") : "");
  }
  return "";
}

}  // namespace ksearch

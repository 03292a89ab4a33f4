#include "coordinator/service/disk_watch.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

constexpr int64_t kMostByDefault = int64_t{1} << 30;
constexpr int64_t kShareByDefault = 50;  // 1/50 of the file system

}  // namespace

absl::StatusOr<DiskWatch::Space> DiskWatch::Look() const {
  struct statvfs facts;
  if (::statvfs(folder_.c_str(), &facts) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("look at the disk of ", folder_));
  }
  const int64_t block = static_cast<int64_t>(facts.f_frsize);
  Space space;
  space.free_bytes = static_cast<int64_t>(facts.f_bavail) * block;
  space.least_free_bytes = configured_ > 0
                               ? configured_
                               : std::min(kMostByDefault, static_cast<int64_t>(facts.f_blocks) *
                                                              block / kShareByDefault);
  return space;
}

absl::Status DiskWatch::Check() const {
  const auto space = Look();
  if (!space.ok() || space->free_bytes >= space->least_free_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the coordinator's disk is nearly full: ", space->free_bytes,
      " bytes are free where state_dir ", folder_, " is, fewer than least_free_bytes (",
      space->least_free_bytes,
      "). Nothing new starts until there is space; active runs continue. Free some, or move old "
      "runs away (`ksearch gc`, docs/operations.md)"));
}

}  // namespace ksearch

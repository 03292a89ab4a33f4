#include "coordinator/service/disk_watch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/disk_space.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr int64_t kMostByDefault = int64_t{1} << 30;
constexpr int64_t kShareByDefault = 50;  // 1/50 of the file system

}  // namespace

absl::StatusOr<DiskWatch::Space> DiskWatch::ReadSpace() const {
  ASSIGN_OR_RETURN(const DiskSpace disk, DiskSpaceOf(folder_));
  const int64_t by_default = std::min(kMostByDefault, disk.size_bytes / kShareByDefault);
  return Space{disk.free_bytes, configured_ > 0 ? configured_ : by_default};
}

absl::Status DiskWatch::Check() const {
  const auto space = ReadSpace();
  if (!space.ok() || space->free_bytes >= space->least_free_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the coordinator's disk is nearly full: ", space->free_bytes,
      " bytes are free where state_dir ", folder_, " is, fewer than least_free_bytes (",
      space->least_free_bytes,
      "). Nothing new starts until there is space; active runs continue. Free some, or move old "
      "runs away (`ksearch gc`, docs/operations.md)"));
}

}  // namespace ksearch

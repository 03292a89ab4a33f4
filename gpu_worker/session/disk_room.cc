#include "gpu_worker/session/disk_room.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/disk_space.h"

namespace ksearch {
namespace {

constexpr int64_t kMostRoom = int64_t{64} << 20;
constexpr int64_t kShare = 50;  // 1/50 of the file system

}  // namespace

std::string DiskFullText(const std::string& folder) {
  const absl::StatusOr<DiskSpace> disk = DiskSpaceOf(folder);
  if (!disk.ok()) return "";
  const int64_t needed = std::min(kMostRoom, disk->size_bytes / kShare);
  if (disk->free_bytes >= needed && disk->may_create_files) return "";
  return absl::StrCat("the disk of state_dir ", folder, " is full (", disk->free_bytes,
                      " bytes free",
                      disk->may_create_files ? "" : ", and no more files can be created",
                      "); free some space there");
}

}  // namespace ksearch

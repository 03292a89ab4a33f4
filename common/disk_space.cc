#include "common/disk_space.h"

#include <sys/statvfs.h>

#include <cerrno>

#include "common/status_macros.h"

namespace ksearch {

absl::StatusOr<DiskSpace> DiskSpaceOf(const std::string& path) {
  struct statvfs facts;
  if (::statvfs(path.c_str(), &facts) != 0) return ErrnoStatus(errno, path);
  const auto block = static_cast<int64_t>(facts.f_frsize);
  DiskSpace space;
  space.free_bytes = static_cast<int64_t>(facts.f_bavail) * block;
  space.size_bytes = static_cast<int64_t>(facts.f_blocks) * block;
  // Others report 0 of 0.
  space.may_create_files = facts.f_files == 0 || facts.f_favail > 0;
  return space;
}

}  // namespace ksearch

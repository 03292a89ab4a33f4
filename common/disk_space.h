#ifndef KSEARCH_COMMON_DISK_SPACE_H_
#define KSEARCH_COMMON_DISK_SPACE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace ksearch {

// How full a file system is, as the kernel counts.
struct DiskSpace {
  int64_t free_bytes = 0;  // for this account: without what is reserved for root
  int64_t size_bytes = 0;
  // Some file systems have room for a fixed number of files.
  bool may_create_files = true;
};

// Returns how full the file system of this file or folder is. Errors are those of ErrnoStatus;
// their messages begin with the path.
absl::StatusOr<DiskSpace> DiskSpaceOf(const std::string& path);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_DISK_SPACE_H_

#ifndef KSEARCH_COORDINATOR_SERVICE_DISK_WATCH_H_
#define KSEARCH_COORDINATOR_SERVICE_DISK_WATCH_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ksearch {

// Decides whether the disk has room for new work. It refuses new work while there is still room to
// finish the work in progress. A value type; constant after construction.
class DiskWatch {
 public:
  // `least_free_bytes`: as in CoordinatorConfig; 0: the default.
  DiskWatch(std::string folder, int64_t least_free_bytes)
      : folder_(std::move(folder)), configured_(least_free_bytes) {}

  struct Space {
    int64_t free_bytes = 0;        // free for this user account
    int64_t least_free_bytes = 0;  // the limit in force
  };
  absl::StatusOr<Space> ReadSpace() const;
  // RESOURCE_EXHAUSTED names folder and bytes. If the file system does not report its free space,
  // the check passes.
  absl::Status Check() const;

 private:
  std::string folder_;
  int64_t configured_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_DISK_WATCH_H_

#ifndef KSEARCH_COORDINATOR_STORE_FILE_LOCK_H_
#define KSEARCH_COORDINATOR_STORE_FILE_LOCK_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/unique_fd.h"

namespace ksearch {

// An exclusive flock on a file that contains the owner's process id. Released when the object is
// destroyed or the process ends, however it ends; the file remains. Movable.
class FileLock {
 public:
  // Creates `path` if it is missing and tries to lock it for up to `wait`. FAILED_PRECONDITION:
  // another process holds the lock; the message names its pid. PERMISSION_DENIED: the file cannot
  // be written.
  static absl::StatusOr<FileLock> Acquire(const std::string& path, absl::Duration wait);

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_FILE_LOCK_H_

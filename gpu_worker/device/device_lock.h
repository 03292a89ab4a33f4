#ifndef KSEARCH_GPU_WORKER_DEVICE_DEVICE_LOCK_H_
#define KSEARCH_GPU_WORKER_DEVICE_DEVICE_LOCK_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/unique_fd.h"

namespace ksearch {

// Keeps what is being measured undisturbed, across jobs and across the workers of one machine: a
// lock file held exclusively while measuring, shared by work that may run side by side (builds on
// the CPU that is the device). The kernel frees it when its holder dies. A process that waits to
// measure goes before later builds. Thread-safe.
class DeviceLock {
 public:
  enum class Mode { kShared, kExclusive };

  // Holds the lock until destroyed. Movable.
  class Hold {
   public:
    explicit Hold(UniqueFd file) : file_(std::move(file)) {}

   private:
    UniqueFd file_;
  };

  // Makes the file (and "<path>.gate" beside it) if missing. PERMISSION_DENIED and the like name
  // it.
  static absl::StatusOr<std::unique_ptr<DeviceLock>> Create(const std::string& path);

  // Exclusive, or nothing while anybody else holds the lock or waits for it.
  absl::StatusOr<std::optional<Hold>> TryAcquireExclusive();
  // Waits for as long as it takes; CANCELLED once `stop` is requested.
  absl::StatusOr<Hold> Acquire(Mode mode, std::stop_token stop);
  // Another process that holds it now, in words: "process 4711 (ksearch-worker)". Empty: none is
  // seen; one of another container may still do.
  std::string HeldByAnother() const;

 private:
  explicit DeviceLock(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_DEVICE_LOCK_H_

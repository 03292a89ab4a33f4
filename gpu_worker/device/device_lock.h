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

// Keeps measurements undisturbed, across jobs and across the workers of one machine: a lock file
// that is held exclusively while measuring, and shared by work that may run side by side (builds on
// the CPU that is the device). The kernel releases it when its holder dies. A process that waits to
// measure takes precedence over later builds. Thread-safe.
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

  // Creates the file (and "<path>.gate" beside it) if missing. PERMISSION_DENIED and the like name
  // it.
  static absl::StatusOr<std::unique_ptr<DeviceLock>> Create(const std::string& path);

  // Acquires the lock exclusively, or returns nullopt while anybody else holds it or waits for it.
  absl::StatusOr<std::optional<Hold>> TryAcquireExclusive();
  // Waits as long as necessary; CANCELLED once `stop` is requested.
  absl::StatusOr<Hold> Acquire(Mode mode, std::stop_token stop);
  // While somebody holds the lock in shared mode: returns true if another waits to measure. May be
  // true for a moment without that.
  bool AwaitedByMeasurement() const;
  // Returns the other process that holds the lock, as text: "process 4711 (ksearch-worker)". Empty
  // if none is visible; one in another container may still hold it.
  std::string HeldByAnother() const;

 private:
  explicit DeviceLock(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_DEVICE_LOCK_H_

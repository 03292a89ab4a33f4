#ifndef KSEARCH_GPU_WORKER_DEVICE_DEVICE_FACTORY_H_
#define KSEARCH_GPU_WORKER_DEVICE_DEVICE_FACTORY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device_lock.h"
#include "gpu_worker/device/device_monitor.h"
#include "proto/config.pb.h"

namespace ksearch {

// INVALID_ARGUMENT for a class of device this build does not know.
absl::StatusOr<std::unique_ptr<DeviceMonitor>> MakeDeviceMonitor(
    const v1::DeviceSettings& settings);

// The lock of `settings.lock_path`, or of its default for this account.
absl::StatusOr<std::unique_ptr<DeviceLock>> MakeDeviceLock(const v1::DeviceSettings& settings);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_DEVICE_FACTORY_H_

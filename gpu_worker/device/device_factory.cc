#include "gpu_worker/device/device_factory.h"

#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gpu_worker/device/cpu_device_monitor.h"

namespace ksearch {

absl::StatusOr<std::unique_ptr<DeviceMonitor>> MakeDeviceMonitor(
    const v1::DeviceSettings& settings) {
  switch (settings.device_class()) {
    case v1::DEVICE_CLASS_UNSPECIFIED:
    case v1::DEVICE_CLASS_CPU: {
      ASSIGN_OR_RETURN(std::unique_ptr<DeviceMonitor> monitor, CpuDeviceMonitor::Create());
      return monitor;
    }
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("device.device_class: ", v1::DeviceClass_Name(settings.device_class()),
                       " is not supported by this worker"));
  }
}

absl::StatusOr<std::unique_ptr<DeviceLock>> MakeDeviceLock(const v1::DeviceSettings& settings) {
  return DeviceLock::Create(settings.lock_path().empty()
                                ? absl::StrCat("/tmp/ksearch-device-", ::geteuid(), "-cpu.lock")
                                : settings.lock_path());
}

}  // namespace ksearch

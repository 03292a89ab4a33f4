#ifndef KSEARCH_GPU_WORKER_DEVICE_DEVICE_FACTORY_H_
#define KSEARCH_GPU_WORKER_DEVICE_DEVICE_FACTORY_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device_lock.h"
#include "gpu_worker/device/device_monitor.h"
#include "gpu_worker/device/xid/kernel_log.h"
#include "proto/config.pb.h"

namespace ksearch {

// One device of this worker.
struct Device {
  // the settings that it comes from; if they name several GPUs, narrowed to this one
  v1::DeviceSettings settings;
  std::string gpu_uuid;         // empty: the processors
  int driver_cuda_version = 0;  // as in GpuFacts
  std::unique_ptr<DeviceMonitor> monitor;
  std::unique_ptr<DeviceLock> lock;  // null if nothing is measured (compile_only)

  v1::DeviceClass device_class() const { return settings.device_class(); }
};

// The place where the driver is looked for, and its kernel log.
struct GpuSurroundings {
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string driver_library = "libcuda.so.1";
  std::string device_folder = "/dev";
  std::optional<std::string> visible_devices;  // CUDA_VISIBLE_DEVICES
  // False in a build without the CUDA toolkit: GPUs are refused.
  bool built_with_cuda;
  std::shared_ptr<KernelLog> kernel_log;  // null: this account may not read it

  // Must be called while still root, if started as root: on some machines other accounts may not
  // open the kernel's log.
  static GpuSurroundings OfThisProcess();
};

// Returns the devices of `config.device` and `config.more_devices`, in that order, each with the
// lock of its settings. With `config.compile_only`, returns one that represents the class of
// `config.device`; its monitor watches the machine that builds. Errors name the field and say what
// to do: INVALID_ARGUMENT for a class that this build does not support or a device named twice;
// NOT_FOUND for a missing driver or GPU; FAILED_PRECONDITION for device nodes that are missing or
// inaccessible, and for GPUs that are busy or split. The latter errors are returned only if none of
// the chosen GPUs is usable; otherwise the unusable ones are among the devices, unhealthy, and a
// line is logged. Without NVML, GPUs are found through the driver and not monitored; a line is
// logged.
absl::StatusOr<std::vector<Device>> MakeDevices(const v1::WorkerConfig& config,
                                                const GpuSurroundings& surroundings);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_DEVICE_FACTORY_H_

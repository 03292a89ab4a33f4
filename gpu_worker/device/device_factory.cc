#include "gpu_worker/device/device_factory.h"

#include <unistd.h>

#include <cstdlib>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "gpu_worker/device/cpu_device_monitor.h"
#include "gpu_worker/device/cuda_device_monitor.h"
#include "gpu_worker/device/gpu_probe.h"

namespace ksearch {
namespace {

std::string DefaultLockPath() { return absl::StrCat("/tmp/ksearch-device-", ::geteuid()); }

absl::StatusOr<std::unique_ptr<DeviceLock>> MakeLock(const std::string& path) {
  auto lock = DeviceLock::Create(path);
  if (lock.ok()) return lock;
  return absl::FailedPreconditionError(absl::StrCat(lock.status().message(),
                                                    "; set lock_path to a file that uid ",
                                                    ::geteuid(), " may open or create"));
}

absl::StatusOr<Device> MakeCpu(const v1::DeviceSettings& settings) {
  Device device;
  device.settings = settings;
  device.settings.set_device_class(v1::DEVICE_CLASS_CPU);
  ASSIGN_OR_RETURN(device.monitor, CpuDeviceMonitor::Create());
  ASSIGN_OR_RETURN(device.lock,
                   MakeLock(settings.lock_path().empty() ? DefaultLockPath() + "-cpu.lock"
                                                         : settings.lock_path()));
  return device;
}

// A GPU that NVML counts but that does not answer: nothing to watch until the driver finds it.
class UnreachableGpu : public DeviceMonitor {
 public:
  explicit UnreachableGpu(const PresentGpu& gpu) {
    fingerprint_.set_device_id(gpu.facts.uuid);
    fingerprint_.set_name(gpu.facts.name);
    fingerprint_.set_driver(gpu.facts.driver);
    health_.set_reason(std::string(gpu.reachable.message()));
  }
  v1::DeviceFingerprint Fingerprint() const override { return fingerprint_; }
  v1::DeviceHealth Sample() override { return health_; }

 private:
  v1::DeviceFingerprint fingerprint_;
  v1::DeviceHealth health_;
};

// OK, or why this GPU cannot be used when the worker starts.
absl::Status CheckGpu(const v1::DeviceSettings& settings, const PresentGpu& gpu,
                      const GpuSurroundings& surroundings) {
  RETURN_IF_ERROR(gpu.reachable);
  RETURN_IF_ERROR(CheckDeviceNodes(surroundings.device_folder, gpu.facts));
  if (!gpu.nvml.has_value()) return absl::OkStatus();
  return CheckGpuIsFree(*gpu.nvml, settings);
}

absl::StatusOr<Device> MakeGpu(const v1::DeviceSettings& settings, const PresentGpu& gpu,
                               const GpuSurroundings& surroundings) {
  Device device;
  device.settings = settings;
  device.settings.clear_gpus();
  device.settings.add_gpus(gpu.facts.uuid);
  device.gpu_uuid = gpu.facts.uuid;
  device.driver_cuda_version = gpu.facts.driver_cuda_version;
  if (gpu.reachable.ok()) {
    CudaDeviceMonitor::Options options;
    options.allow_busy = settings.allow_busy();
    options.lock_is_named = !settings.lock_path().empty();
    options.device_folder = surroundings.device_folder;
    options.kernel_log = surroundings.kernel_log;
    device.monitor = std::make_unique<CudaDeviceMonitor>(gpu.facts, gpu.nvml, options);
  } else {
    device.monitor = std::make_unique<UnreachableGpu>(gpu);
  }
  const std::string path = settings.lock_path().empty() ? DefaultLockPath() : settings.lock_path();
  ASSIGN_OR_RETURN(device.lock, MakeLock(absl::StrCat(path, "-", gpu.facts.uuid, ".lock")));
  return device;
}

absl::Status AddGpus(const v1::DeviceSettings& settings, const GpuSurroundings& surroundings,
                     std::vector<Device>* devices) {
  if (!surroundings.built_with_cuda) {
    return absl::InvalidArgumentError(
        "device_class: DEVICE_CLASS_CUDA, but this ksearch-worker was built without CUDA; build "
        "it where the CUDA toolkit is installed");
  }
  ASSIGN_OR_RETURN(const std::vector<PresentGpu> present,
                   FindGpus(surroundings.nvml_library, surroundings.driver_library));
  std::vector<GpuFacts> facts;
  for (const PresentGpu& gpu : present) facts.push_back(gpu.facts);
  ASSIGN_OR_RETURN(const std::vector<GpuFacts> chosen,
                   SelectGpus(facts, {settings.gpus().begin(), settings.gpus().end()},
                              surroundings.visible_devices));
  std::vector<absl::Status> troubles;
  for (const GpuFacts& wanted : chosen) {
    for (const PresentGpu& gpu : present) {
      if (gpu.facts.uuid != wanted.uuid) continue;
      absl::Status trouble = CheckGpu(settings, gpu, surroundings);
      if (!trouble.ok()) troubles.push_back(std::move(trouble));
      ASSIGN_OR_RETURN(Device device, MakeGpu(settings, gpu, surroundings));
      devices->push_back(std::move(device));
    }
  }
  if (troubles.size() < chosen.size()) {
    for (const absl::Status& trouble : troubles) {
      LOG(WARNING) << "msg=\"the worker starts without a GPU\" reason=\"" << trouble.message()
                   << "\"";
    }
    return absl::OkStatus();
  }
  return absl::Status(troubles[0].code(),
                      absl::StrJoin(troubles, "\n", [](std::string* out, const absl::Status& one) {
                        absl::StrAppend(out, one.message());
                      }));
}

absl::Status AddDevices(const v1::DeviceSettings& settings, const GpuSurroundings& surroundings,
                        std::vector<Device>* devices) {
  switch (settings.device_class()) {
    case v1::DEVICE_CLASS_UNSPECIFIED:
    case v1::DEVICE_CLASS_CPU: {
      ASSIGN_OR_RETURN(Device device, MakeCpu(settings));
      devices->push_back(std::move(device));
      return absl::OkStatus();
    }
    case v1::DEVICE_CLASS_CUDA:
      return AddGpus(settings, surroundings, devices);
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("device_class: ", v1::DeviceClass_Name(settings.device_class()),
                       " is not supported by this worker"));
  }
}

}  // namespace

GpuSurroundings GpuSurroundings::OfThisProcess() {
  GpuSurroundings surroundings;
  surroundings.built_with_cuda = BuiltWithCuda();
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");  // NOLINT(concurrency-mt-unsafe)
  if (visible != nullptr) surroundings.visible_devices = visible;
  if (auto log = KernelLog::Open(); log.ok()) surroundings.kernel_log = *std::move(log);
  return surroundings;
}

absl::StatusOr<std::vector<Device>> MakeDevices(const v1::WorkerConfig& config,
                                                const GpuSurroundings& surroundings) {
  std::vector<Device> devices;
  if (config.compile_only()) {
    Device& machine = devices.emplace_back();
    machine.settings = config.device();
    if (machine.device_class() == v1::DEVICE_CLASS_UNSPECIFIED) {
      machine.settings.set_device_class(v1::DEVICE_CLASS_CPU);
    }
    ASSIGN_OR_RETURN(machine.monitor, CpuDeviceMonitor::Create());
    return devices;
  }
  RETURN_IF_ERROR(Annotate(AddDevices(config.device(), surroundings, &devices), "device"));
  for (int i = 0; i < config.more_devices_size(); ++i) {
    RETURN_IF_ERROR(Annotate(AddDevices(config.more_devices(i), surroundings, &devices),
                             absl::StrCat("more_devices[", i, "]")));
  }
  std::set<std::string> ids;
  for (const Device& device : devices) {
    const std::string id = device.monitor->Fingerprint().device_id();
    if (!ids.insert(id).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("device and more_devices: ", id, " is named twice"));
    }
  }
  return devices;
}

}  // namespace ksearch

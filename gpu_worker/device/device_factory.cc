#include "gpu_worker/device/device_factory.h"

#include <unistd.h>

#include <cstdlib>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gpu_worker/device/cpu_device_monitor.h"
#include "gpu_worker/device/cuda_device_monitor.h"
#include "gpu_worker/device/gpu_probe.h"

namespace ksearch {
namespace {

std::string DefaultLockPath() { return absl::StrCat("/tmp/ksearch-device-", ::geteuid()); }

absl::StatusOr<Device> MakeCpu(const v1::DeviceSettings& settings) {
  Device device;
  device.settings = settings;
  device.settings.set_device_class(v1::DEVICE_CLASS_CPU);
  ASSIGN_OR_RETURN(device.monitor, CpuDeviceMonitor::Create());
  ASSIGN_OR_RETURN(device.lock,
                   DeviceLock::Create(settings.lock_path().empty() ? DefaultLockPath() + "-cpu.lock"
                                                                   : settings.lock_path()));
  return device;
}

absl::StatusOr<Device> MakeGpu(const v1::DeviceSettings& settings, const PresentGpu& gpu,
                               const GpuSurroundings& surroundings) {
  RETURN_IF_ERROR(CheckDeviceNodes(surroundings.device_folder, gpu.facts));
  if (gpu.nvml.has_value()) RETURN_IF_ERROR(CheckGpuIsFree(*gpu.nvml, settings.allow_busy()));
  Device device;
  device.settings = settings;
  device.settings.clear_gpus();
  device.settings.add_gpus(gpu.facts.uuid);
  device.gpu_uuid = gpu.facts.uuid;
  CudaDeviceMonitor::Options options;
  options.allow_busy = settings.allow_busy();
  device.monitor = std::make_unique<CudaDeviceMonitor>(gpu.facts, gpu.nvml, options);
  const std::string path = settings.lock_path().empty() ? DefaultLockPath() : settings.lock_path();
  ASSIGN_OR_RETURN(device.lock,
                   DeviceLock::Create(absl::StrCat(path, "-", gpu.facts.uuid, ".lock")));
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
  for (const GpuFacts& wanted : chosen) {
    for (const PresentGpu& gpu : present) {
      if (gpu.facts.uuid != wanted.uuid) continue;
      ASSIGN_OR_RETURN(Device device, MakeGpu(settings, gpu, surroundings));
      devices->push_back(std::move(device));
    }
  }
  return absl::OkStatus();
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

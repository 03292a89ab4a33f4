#include "gpu_worker/device/gpu_probe.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log.h"
#include "common/status_macros.h"
#ifdef KSEARCH_CUDA
#include "gpu_worker/cuda/cuda_device.h"
#include "gpu_worker/cuda/driver_api.h"
#endif

namespace ksearch {
namespace {

absl::StatusOr<std::vector<PresentGpu>> FromNvml(const std::string& library) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const NvmlApi> api, NvmlApi::Load(library));
  char driver[128] = {};
  RETURN_IF_ERROR(
      api->ToStatus(api->DriverVersion(driver, sizeof driver - 1), "version of the driver"));
  int cuda_version = 0;
  if (api->CudaVersion == nullptr || api->CudaVersion(&cuda_version) != kNvmlSuccess) {
    cuda_version = 0;
  }
  std::vector<NvmlGpu::Unreachable> unreachable;
  ASSIGN_OR_RETURN(const std::vector<NvmlGpu> gpus, NvmlGpu::List(api, &unreachable));
  std::vector<PresentGpu> present;
  for (const NvmlGpu& gpu : gpus) {
    PresentGpu& found = present.emplace_back();
    found.nvml = gpu;
    GpuFacts& facts = found.facts;
    facts.uuid = gpu.uuid();
    facts.name = gpu.name();
    facts.index = gpu.index();
    facts.compute_major = gpu.compute_major();
    facts.compute_minor = gpu.compute_minor();
    facts.driver = driver;
    facts.driver_cuda_version = cuda_version;
    facts.node_number = gpu.node_number();
    facts.memory_bytes = gpu.memory_bytes().value_or(0);
    facts.multiprocessors = gpu.multiprocessors().value_or(0);
    facts.l2_bytes = KnownL2Bytes(gpu.name());
  }
  for (const NvmlGpu::Unreachable& gpu : unreachable) {
    PresentGpu& found = present.emplace_back();
    found.facts.index = gpu.index;
    found.facts.uuid = absl::StrCat("unreachable-", gpu.index);
    found.facts.name = "GPU that does not answer";
    found.facts.driver = driver;
    found.reachable = absl::FailedPreconditionError(
        absl::StrCat("GPU ", gpu.index, " does not answer (", gpu.why.message(),
                     "); see dmesg, fix it and restart the worker"));
  }
  return present;
}

#ifdef KSEARCH_CUDA
absl::StatusOr<int> Attribute(const DriverApi& api, CUdevice device, CUdevice_attribute attribute) {
  int value = 0;
  if (api.cuDeviceGetAttribute(&value, attribute, device) != CUDA_SUCCESS) {
    return absl::InternalError("the driver does not tell a GPU's attributes");
  }
  return value;
}

absl::StatusOr<std::vector<PresentGpu>> FromDriver(const std::string& library) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const DriverApi> api, DriverApi::Load(library));
  int count = 0, version = 0;
  if (api->cuDeviceGetCount(&count) != CUDA_SUCCESS ||
      api->cuDriverGetVersion(&version) != CUDA_SUCCESS) {
    return absl::FailedPreconditionError("the driver does not list its GPUs");
  }
  std::vector<PresentGpu> present;
  for (int i = 0; i < count; ++i) {
    GpuFacts facts;
    CUdevice device = 0;
    CUuuid uuid = {};
    char name[256] = {};
    size_t bytes = 0;
    if (api->cuDeviceGet(&device, i) != CUDA_SUCCESS ||
        api->cuDeviceGetUuid(&uuid, device) != CUDA_SUCCESS ||
        api->cuDeviceGetName(name, sizeof name - 1, device) != CUDA_SUCCESS ||
        api->cuDeviceTotalMem(&bytes, device) != CUDA_SUCCESS) {
      return absl::FailedPreconditionError(absl::StrCat("the driver does not describe GPU ", i));
    }
    facts.uuid = GpuUuidText(uuid);
    facts.name = name;
    facts.index = i;
    facts.memory_bytes = static_cast<int64_t>(bytes);
    facts.driver = absl::StrCat("CUDA ", version / 1000, ".", version % 1000 / 10);
    facts.driver_cuda_version = version;
    ASSIGN_OR_RETURN(facts.compute_major,
                     Attribute(*api, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
    ASSIGN_OR_RETURN(facts.compute_minor,
                     Attribute(*api, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    ASSIGN_OR_RETURN(facts.multiprocessors,
                     Attribute(*api, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    ASSIGN_OR_RETURN(facts.l2_bytes, Attribute(*api, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
    present.push_back({std::move(facts), std::nullopt});
  }
  return present;
}
#else
absl::StatusOr<std::vector<PresentGpu>> FromDriver(const std::string&) {
  return absl::NotFoundError("this build does not know the CUDA driver");
}
#endif

}  // namespace

bool BuiltWithCuda() {
#ifdef KSEARCH_CUDA
  return true;
#else
  return false;
#endif
}

absl::StatusOr<std::vector<PresentGpu>> FindGpus(const std::string& nvml_library,
                                                 const std::string& driver_library) {
  absl::StatusOr<std::vector<PresentGpu>> by_nvml = FromNvml(nvml_library);
  if (by_nvml.ok()) return by_nvml;
  absl::StatusOr<std::vector<PresentGpu>> by_driver = FromDriver(driver_library);
  if (by_driver.ok()) {
    LOG(WARNING) << "msg=\"no NVML: GPUs are not watched for heat, throttling and other programs\" "
                    "error=\""
                 << by_nvml.status().message() << "\"";
    return by_driver;
  }
  const bool absent = absl::IsNotFound(by_nvml.status()) && absl::IsNotFound(by_driver.status());
  if (absent) {
    return absl::NotFoundError(absl::StrCat(
        "there is no NVIDIA driver here (neither ", nvml_library, " nor ", driver_library,
        "): install it, or in a container start that with the GPUs (docker: --gpus all); a node "
        "without a GPU may build: --compile-only"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the NVIDIA driver does not work (", by_nvml.status().message(), "; ",
      by_driver.status().message(), "): see that the kernel module is loaded and of the same ",
      "version as the libraries (nvidia-smi), in a container start it with the GPUs"));
}

absl::Status CheckDeviceNodes(const std::string& folder, const GpuFacts& gpu) {
  std::vector<std::string> nodes = {"nvidiactl", "nvidia-uvm"};
  if (gpu.node_number.has_value()) nodes.push_back(absl::StrCat("nvidia", *gpu.node_number));
  std::vector<std::string> missing, barred;
  for (const std::string& node : nodes) {
    const std::string path = absl::StrCat(folder, "/", node);
    if (::access(path.c_str(), R_OK | W_OK) == 0) continue;
    (errno == ENOENT ? missing : barred).push_back(path);
  }
  if (!missing.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "GPU ", gpu.uuid, ": ", absl::StrJoin(missing, ", "), " missing: run `nvidia-modprobe -c ",
        gpu.node_number.value_or(0), " -u` as root; in a container, start it with the GPUs"));
  }
  if (!barred.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "GPU ", gpu.uuid, ": uid ", ::geteuid(), " may not open ", absl::StrJoin(barred, ", "),
        " for reading and writing: give the nodes mode 0666 (NVreg_DeviceFileMode), or set ",
        "run_as_uid and run_as_gid to an account that may"));
  }
  return absl::OkStatus();
}

}  // namespace ksearch

#include "gpu_worker/device/nvml/nvml_gpu.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// FP32 lanes of one multiprocessor from compute capability 8.6 on, Hopper and Blackwell included
// (CUDA C++ programming guide, "Arithmetic Instructions").
constexpr int kCoresPerMultiprocessor = 128;
constexpr size_t kTextBytes = 256;
constexpr unsigned int kMostProcesses = 256;

absl::Status Absent(absl::string_view what) {
  return absl::UnimplementedError(absl::StrCat(what, ": this driver does not tell"));
}

}  // namespace

absl::Status NvmlGpu::Identify(int index) {
  index_ = index;
  char text[kTextBytes] = {};
  RETURN_IF_ERROR(api_->ToStatus(api_->DeviceByIndex(static_cast<unsigned int>(index), &handle_),
                                 absl::StrCat("GPU ", index)));
  RETURN_IF_ERROR(api_->ToStatus(api_->Uuid(handle_, text, sizeof text - 1),
                                 absl::StrCat("UUID of GPU ", index)));
  uuid_ = text;
  RETURN_IF_ERROR(api_->ToStatus(api_->Name(handle_, text, sizeof text - 1),
                                 absl::StrCat("name of GPU ", index)));
  name_ = text;
  return api_->ToStatus(api_->ComputeCapability(handle_, &major_, &minor_),
                        absl::StrCat("compute capability of GPU ", index));
}

absl::StatusOr<std::vector<NvmlGpu>> NvmlGpu::List(std::shared_ptr<const NvmlApi> api,
                                                   std::vector<Unreachable>* unreachable) {
  unsigned int count = 0;
  RETURN_IF_ERROR(api->ToStatus(api->DeviceCount(&count), "counting GPUs"));
  std::vector<NvmlGpu> gpus;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    NvmlGpu gpu(api);
    absl::Status found = gpu.Identify(i);
    if (found.ok()) {
      gpus.push_back(std::move(gpu));
    } else if (unreachable != nullptr) {
      unreachable->push_back({i, std::move(found)});
    }
  }
  return gpus;
}

absl::StatusOr<NvmlGpu> NvmlGpu::Find(std::shared_ptr<const NvmlApi> api, absl::string_view uuid) {
  ASSIGN_OR_RETURN(const std::vector<NvmlGpu> gpus, List(std::move(api)));
  for (const NvmlGpu& gpu : gpus) {
    if (gpu.uuid() == uuid) return gpu;
  }
  return absl::NotFoundError(absl::StrCat(
      "there is no GPU ", uuid, " here; there ", gpus.size() == 1 ? "is " : "are ",
      gpus.empty() ? "none" : absl::StrJoin(gpus, ", ", [](std::string* out, const NvmlGpu& gpu) {
        out->append(gpu.uuid());
      })));
}

absl::StatusOr<int> NvmlGpu::Number(NvmlResult (*function)(NvmlHandle, unsigned int*),
                                    absl::string_view what) const {
  if (function == nullptr) return Absent(what);
  unsigned int value = 0;
  RETURN_IF_ERROR(api_->ToStatus(function(handle_, &value), what));
  return static_cast<int>(value);
}

std::optional<int> NvmlGpu::node_number() const {
  const auto number = Number(api_->MinorNumber, "minor number");
  return number.ok() ? std::optional<int>(*number) : std::nullopt;
}

std::string NvmlGpu::pci_address() const {
  NvmlPci pci = {};
  if (api_->PciInfo == nullptr || api_->PciInfo(handle_, &pci) != kNvmlSuccess) return "";
  return absl::StrFormat("%08x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
}

std::optional<int64_t> NvmlGpu::memory_bytes() const {
  NvmlMemory memory = {};
  if (api_->MemoryInfo == nullptr || api_->MemoryInfo(handle_, &memory) != kNvmlSuccess) {
    return std::nullopt;
  }
  return static_cast<int64_t>(memory.total);
}

std::optional<int> NvmlGpu::multiprocessors() const {
  const auto cores = Number(api_->CoreCount, "cores");
  if (!cores.ok()) return std::nullopt;
  return *cores / kCoresPerMultiprocessor;
}

absl::StatusOr<DeviceClocks> NvmlGpu::Clocks() const {
  if (api_->ClockMhz == nullptr || api_->ThrottleReasons == nullptr) return Absent("clocks");
  unsigned int sm = 0, memory = 0;
  unsigned long long reasons = 0;
  RETURN_IF_ERROR(api_->ToStatus(api_->ClockMhz(handle_, kNvmlSmClock, &sm), "SM clock"));
  RETURN_IF_ERROR(
      api_->ToStatus(api_->ClockMhz(handle_, kNvmlMemoryClock, &memory), "memory clock"));
  RETURN_IF_ERROR(api_->ToStatus(api_->ThrottleReasons(handle_, &reasons), "throttle reasons"));
  return DeviceClocks{static_cast<int>(sm), static_cast<int>(memory), reasons};
}

absl::StatusOr<int> NvmlGpu::MaxSmMhz() const {
  if (api_->MaxClockMhz == nullptr) return Absent("highest SM clock");
  unsigned int value = 0;
  RETURN_IF_ERROR(
      api_->ToStatus(api_->MaxClockMhz(handle_, kNvmlSmClock, &value), "highest SM clock"));
  return static_cast<int>(value);
}

absl::StatusOr<int> NvmlGpu::TemperatureCelsius() const {
  constexpr int kGpuSensor = 0;
  if (api_->Temperature == nullptr) return Absent("temperature");
  unsigned int value = 0;
  RETURN_IF_ERROR(api_->ToStatus(api_->Temperature(handle_, kGpuSensor, &value), "temperature"));
  return static_cast<int>(value);
}

absl::StatusOr<int> NvmlGpu::PowerMilliwatts() const {
  return Number(api_->PowerMilliwatts, "power");
}

absl::StatusOr<int> NvmlGpu::PowerLimitMilliwatts() const {
  return Number(api_->PowerLimitMilliwatts, "power limit");
}

absl::StatusOr<int64_t> NvmlGpu::UncorrectedEccErrors() const {
  constexpr int kUncorrected = 1, kSinceDriverLoaded = 0;
  if (api_->EccErrors == nullptr) return Absent("ECC errors");
  unsigned long long count = 0;
  RETURN_IF_ERROR(api_->ToStatus(api_->EccErrors(handle_, kUncorrected, kSinceDriverLoaded, &count),
                                 "ECC errors"));
  return static_cast<int64_t>(count);
}

absl::StatusOr<bool> NvmlGpu::MigEnabled() const {
  if (api_->MigMode == nullptr) return Absent("MIG mode");
  unsigned int current = 0, pending = 0;
  RETURN_IF_ERROR(api_->ToStatus(api_->MigMode(handle_, &current, &pending), "MIG mode"));
  return current != 0;
}

absl::StatusOr<std::vector<int>> NvmlGpu::ComputeProcesses() const {
  if (api_->ComputeProcesses == nullptr) return Absent("processes on the GPU");
  std::vector<NvmlProcess> found(kMostProcesses);
  unsigned int count = kMostProcesses;
  const NvmlResult result = api_->ComputeProcesses(handle_, &count, found.data());
  // There are more than fit: these suffice.
  if (result != kNvmlInsufficientSize) {
    RETURN_IF_ERROR(api_->ToStatus(result, "processes on the GPU"));
    found.resize(std::min(count, kMostProcesses));
  }
  std::vector<int> pids;
  for (const NvmlProcess& process : found) {
    if (process.pid != 0) pids.push_back(static_cast<int>(process.pid));
  }
  return pids;
}

}  // namespace ksearch

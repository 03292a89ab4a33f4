#include "gpu_worker/device/cuda_device_monitor.h"

#include <sys/utsname.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log.h"
#include "gpu_worker/device/gpu_processes.h"
#include "gpu_worker/device/harness_version.h"

namespace ksearch {
namespace {

v1::DeviceFingerprint FingerprintOf(const GpuFacts& facts) {
  struct utsname system = {};
  ::uname(&system);
  v1::DeviceFingerprint fingerprint;
  fingerprint.set_device_id(facts.uuid);
  fingerprint.set_name(facts.name);
  fingerprint.set_architecture(GpuArchitecture(facts.compute_major, facts.compute_minor));
  fingerprint.set_driver(facts.driver);
  fingerprint.set_cores(facts.multiprocessors);
  fingerprint.set_last_level_cache_bytes(facts.l2_bytes);
  fingerprint.set_memory_bytes(facts.memory_bytes);
  fingerprint.set_harness_version(kHarnessVersion);
  fingerprint.set_kernel(system.release);
  return fingerprint;
}

}  // namespace

// After NVIDIA's "Xid Errors" document: memory (48, 63, 64, 94, 95), NVLink (74), fallen off the
// bus (79), firmware of the GPU (119, 120), and a GPU that asks for a reset (154).
bool XidIsOfTheDevice(uint64_t xid) {
  constexpr uint64_t kOfTheDevice[] = {8, 46, 48, 63, 64, 74, 79, 94, 95, 109, 119, 120, 154};
  return std::find(std::begin(kOfTheDevice), std::end(kOfTheDevice), xid) != std::end(kOfTheDevice);
}

CudaDeviceMonitor::CudaDeviceMonitor(const GpuFacts& facts, std::optional<NvmlGpu> gpu,
                                     Options options)
    : fingerprint_(FingerprintOf(facts)), gpu_(std::move(gpu)), options_(options) {
  if (!gpu_.has_value()) return;
  MutexLock lock(&mu_);
  first_ecc_errors_ = gpu_->UncorrectedEccErrors().value_or(0);
  const NvmlApi& api = gpu_->api();
  if (api.EventSetCreate == nullptr || api.RegisterEvents == nullptr ||
      api.EventSetWait == nullptr || api.EventSetFree == nullptr ||
      api.EventSetCreate(&events_) != kNvmlSuccess) {
    events_ = nullptr;
    return;
  }
  if (api.RegisterEvents(gpu_->handle(), kNvmlXidEvent, events_) != kNvmlSuccess) {
    api.EventSetFree(events_);
    events_ = nullptr;
  }
}

CudaDeviceMonitor::~CudaDeviceMonitor() {
  MutexLock lock(&mu_);
  if (events_ != nullptr) gpu_->api().EventSetFree(events_);
}

std::string CudaDeviceMonitor::LastingFault() {
  if (!lasting_.empty()) return lasting_;
  constexpr int kMostEvents = 64;  // of one look; more are found at the next
  for (int i = 0; i < kMostEvents && events_ != nullptr; ++i) {
    NvmlEvent event = {};
    if (gpu_->api().EventSetWait(events_, &event, 0) != kNvmlSuccess) break;
    LOG(WARNING) << "msg=\"driver error\" gpu=" << gpu_->uuid() << " xid=" << event.payload;
    if (XidIsOfTheDevice(event.payload)) {
      lasting_ = absl::StrCat("the driver reported Xid ", event.payload,
                              ", an error of the GPU itself; see dmesg, then restart the worker");
    }
  }
  const auto temperature = gpu_->TemperatureCelsius();
  if (absl::IsDataLoss(temperature.status())) {
    lasting_ = "the GPU has fallen off the bus; reboot the machine";
  }
  const int64_t errors = gpu_->UncorrectedEccErrors().value_or(first_ecc_errors_);
  if (errors > first_ecc_errors_) {
    lasting_ = absl::StrCat(errors - first_ecc_errors_,
                            " uncorrected memory errors since the worker started; have the GPU "
                            "looked at, then restart the worker");
  }
  return lasting_;
}

std::string CudaDeviceMonitor::PassingFault() const {
  const int celsius = gpu_->TemperatureCelsius().value_or(0);
  if (celsius >= kTooHotCelsius) {
    return absl::StrCat(celsius, " C, takes no jobs from ", kTooHotCelsius, " C on");
  }
  if (!options_.allow_busy) {
    const auto pids = gpu_->ComputeProcesses();
    if (pids.ok()) {
      const std::vector<std::string> foreign = ForeignProcesses(*pids, /*unseen_too=*/false);
      if (!foreign.empty()) {
        return absl::StrCat("other processes compute on it: ", absl::StrJoin(foreign, ", "));
      }
    }
  }
  return "";
}

v1::DeviceHealth CudaDeviceMonitor::Sample() {
  v1::DeviceHealth health;
  health.set_healthy(true);
  if (!gpu_.has_value()) return health;
  std::string reason;
  {
    MutexLock lock(&mu_);
    reason = LastingFault();
  }
  if (reason.empty()) reason = PassingFault();
  if (!reason.empty()) {
    health.set_healthy(false);
    health.set_reason(absl::StrCat("GPU ", gpu_->uuid(), ": ", reason));
  }
  return health;
}

absl::Status CheckGpuIsFree(const NvmlGpu& gpu, bool allow_busy) {
  if (gpu.MigEnabled().value_or(false)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "GPU ", gpu.uuid(), " is split by MIG, so its times would say nothing about ",
        "the whole; choose another, or turn MIG off (nvidia-smi -i ", gpu.index(), " -mig 0)"));
  }
  const auto pids = gpu.ComputeProcesses();
  if (!pids.ok() || allow_busy) return absl::OkStatus();
  const std::vector<std::string> foreign = ForeignProcesses(*pids, /*unseen_too=*/true);
  if (foreign.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "GPU ", gpu.uuid(), " is in use by ", absl::StrJoin(foreign, ", "),
      ": end that, choose another GPU (device.gpus), or set device.allow_busy and live with ",
      "disturbed times"));
}

}  // namespace ksearch

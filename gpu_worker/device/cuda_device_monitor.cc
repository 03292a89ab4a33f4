#include "gpu_worker/device/cuda_device_monitor.h"

#include <sys/utsname.h>

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "gpu_worker/device/gpu_probe.h"
#include "gpu_worker/device/gpu_processes.h"
#include "gpu_worker/device/harness_version.h"
#include "gpu_worker/device/xid/xid_table.h"

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

// The Xid of a contained memory error and NVML's count of errors may come one before the other.
constexpr absl::Duration kTimeToExplain = absl::Seconds(5);

}  // namespace

CudaDeviceMonitor::CudaDeviceMonitor(const GpuFacts& facts, std::optional<NvmlGpu> gpu,
                                     Options options)
    : facts_(facts),
      fingerprint_(FingerprintOf(facts)),
      gpu_(std::move(gpu)),
      options_(std::move(options)),
      xids_(gpu_, options_.kernel_log) {
  MutexLock lock(&mu_);
  if (gpu_.has_value()) known_memory_errors_ = gpu_->UncorrectedEccErrors().value_or(0);
}

std::string CudaDeviceMonitor::xid_source() const {
  MutexLock lock(&mu_);
  return xids_.source();
}

void CudaDeviceMonitor::Fault(absl::Time now, std::string what) {
  last_fault_at_ = now;
  last_fault_ = std::move(what);
}

void CudaDeviceMonitor::TakeXids(absl::Time now) {
  for (const uint64_t number : xids_.Take()) {
    const Xid xid = DescribeXid(number);
    const std::string text = absl::StrCat("Xid ", number, " (", xid.what, ")");
    if (xid.xid_class == XidClass::kCleanUp) {
      LOG(DEBUG) << "msg=\"" << text << "\" gpu=" << facts_.uuid;
      continue;
    }
    LOG(WARNING) << "msg=\"driver error\" gpu=" << facts_.uuid << " xid=" << number << " what=\""
                 << xid.what << "\"";
    if (xid.xid_class == XidClass::kContained) {
      contained_error_ = now;
      Fault(now, text);
    } else if (xid.xid_class == XidClass::kDevice) {
      Fault(now, text);
      lasting_ = absl::StrCat("the driver reported ", text,
                              ", an error of the GPU itself; see dmesg, then restart the worker");
    }
  }
}

void CudaDeviceMonitor::TakeMemoryErrors(absl::Time now) {
  const int64_t errors = gpu_->UncorrectedEccErrors().value_or(known_memory_errors_);
  if (errors <= known_memory_errors_) {
    unexplained_since_.reset();
    return;
  }
  if (now - contained_error_ <= kTimeToExplain) {
    known_memory_errors_ = errors;
    unexplained_since_.reset();
    return;
  }
  const std::string what =
      absl::StrCat(errors - known_memory_errors_, " uncorrected memory errors");
  if (!unexplained_since_.has_value()) {
    unexplained_since_ = now;
    Fault(now, what);
  }
  if (xids_.source() == "nothing" || now - *unexplained_since_ >= kTimeToExplain) {
    lasting_ = absl::StrCat(what,
                            " since the worker started; have the GPU inspected, then restart "
                            "the worker");
  }
}

void CudaDeviceMonitor::Update() {
  if (!gpu_.has_value() || !lasting_.empty()) return;
  const absl::Time now = options_.clock->SteadyNow();
  TakeXids(now);
  TakeMemoryErrors(now);
  if (absl::IsDataLoss(gpu_->TemperatureCelsius().status())) {
    lasting_ = "the GPU has fallen off the bus; reboot the machine";
    Fault(now, "the GPU has fallen off the bus");
  }
}

std::string CudaDeviceMonitor::PassingFault() const {
  const absl::Status nodes = CheckDeviceNodes(options_.device_folder, facts_);
  if (!nodes.ok()) return std::string(nodes.message());
  if (!gpu_.has_value()) return "";
  const absl::Status usable = CheckGpuIsWhole(*gpu_);
  if (!usable.ok()) return std::string(usable.message());
  const int celsius = gpu_->TemperatureCelsius().value_or(0);
  if (celsius >= kTooHotCelsius) {
    return absl::StrCat(celsius, " C, takes no jobs from ", kTooHotCelsius, " C on");
  }
  if (!options_.allow_busy) {
    const auto pids = gpu_->ComputeProcesses();
    if (pids.ok()) {
      ForeignProcessRules rules;
      rules.other_accounts = !options_.lock_is_named;
      const std::vector<std::string> foreign = ForeignProcesses(*pids, rules);
      if (!foreign.empty()) {
        return absl::StrCat("other processes compute on it: ", absl::StrJoin(foreign, ", "));
      }
    }
  }
  return "";
}

v1::DeviceHealth CudaDeviceMonitor::Sample() {
  v1::DeviceHealth health;
  std::string reason;
  {
    MutexLock lock(&mu_);
    Update();
    reason = lasting_;
    if (reason.empty() && unexplained_since_.has_value()) reason = last_fault_;
  }
  if (reason.empty()) reason = PassingFault();
  health.set_healthy(reason.empty());
  if (!reason.empty()) {
    const std::string name = absl::StrCat("GPU ", facts_.uuid);
    health.set_reason(absl::StartsWith(reason, name) ? reason : absl::StrCat(name, ": ", reason));
  }
  return health;
}

std::optional<v1::DeviceReading> CudaDeviceMonitor::Read() {
  if (!gpu_.has_value()) return std::nullopt;
  const absl::StatusOr<DeviceClocks> clocks = gpu_->Clocks();
  const absl::StatusOr<int> celsius = gpu_->TemperatureCelsius();
  const absl::StatusOr<int> milliwatts = gpu_->PowerMilliwatts();
  if (!clocks.ok() && !celsius.ok() && !milliwatts.ok()) return std::nullopt;
  v1::DeviceReading reading;
  reading.set_device_id(facts_.uuid);
  if (clocks.ok()) {
    reading.set_sm_clock_mhz(clocks->sm_mhz);
    reading.set_memory_clock_mhz(clocks->mem_mhz);
    reading.set_throttle_reasons(clocks->throttle_reason_bits);
  }
  reading.set_temperature_celsius(celsius.value_or(0));
  reading.set_power_milliwatts(milliwatts.value_or(0));
  reading.set_power_limit_milliwatts(gpu_->PowerLimitMilliwatts().value_or(0));
  return reading;
}

std::string CudaDeviceMonitor::FaultSince(absl::Time begin) {
  MutexLock lock(&mu_);
  Update();
  return last_fault_at_ >= begin ? last_fault_ : "";
}

absl::Status CheckGpuIsWhole(const NvmlGpu& gpu) {
  if (!gpu.MigEnabled().value_or(false)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "GPU ", gpu.uuid(), " is split by MIG, so its times would say nothing about ",
      "the whole; choose another, or turn MIG off (nvidia-smi -i ", gpu.index(), " -mig 0)"));
}

absl::Status CheckGpuIsFree(const NvmlGpu& gpu, const v1::DeviceSettings& settings) {
  RETURN_IF_ERROR(CheckGpuIsWhole(gpu));
  const auto pids = gpu.ComputeProcesses();
  if (!pids.ok() || settings.allow_busy()) return absl::OkStatus();
  ForeignProcessRules rules;
  rules.unseen = true;
  rules.other_accounts = settings.lock_path().empty();
  const std::vector<std::string> foreign = ForeignProcesses(*pids, rules);
  if (foreign.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "GPU ", gpu.uuid(), " is in use by ", absl::StrJoin(foreign, ", "),
      ": end that, choose another GPU (device.gpus), or set device.allow_busy and accept ",
      "disturbed times"));
}

}  // namespace ksearch

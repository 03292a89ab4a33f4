#include "gpu_worker/selftest/self_test.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gpu_worker/device/cpu_device_monitor.h"
#include "gpu_worker/device/device_factory.h"
#include "gpu_worker/selftest/gpu_checks.h"
#include "gpu_worker/selftest/machine_checks.h"
#include "gpu_worker/selftest/sandbox_trials.h"
#include "gpu_worker/selftest/trial_evaluation.h"
#include "gpu_worker/worker_config.h"

namespace ksearch {
namespace {

Finding CheckProcessors() {
  const auto monitor = CpuDeviceMonitor::Create();
  if (!monitor.ok())
    return Finding::Fail("processors", std::string(monitor.status().message()), "");
  const v1::DeviceFingerprint print = (*monitor)->Fingerprint();
  return Finding::Ok("processors",
                     absl::StrCat(print.cores(), " x ", print.name(), ", ", print.architecture()));
}

// Checks whether a worker could open the lock of each device, and its other first steps.
void CheckStart(const v1::WorkerConfig& config, const v1::DeviceSettings& device,
                const GpuSurroundings& surroundings, std::vector<Finding>* findings) {
  const auto faulty = [](const Finding& finding) { return finding.level == Finding::Level::kFail; };
  if (std::any_of(findings->begin(), findings->end(), faulty)) return;  // said already
  v1::WorkerConfig one = config;
  *one.mutable_device() = device;
  one.clear_more_devices();
  const auto devices = MakeDevices(one, surroundings);
  if (devices.ok()) return;
  findings->push_back(Finding::Fail("device", std::string(devices.status().message()), ""));
}

void Append(std::vector<Finding> more, std::vector<Finding>* findings) {
  findings->insert(findings->end(), more.begin(), more.end());
}

}  // namespace

std::vector<Finding> RunSelfTest(const v1::WorkerConfig& config) {
  std::vector<Finding> findings;
  const GpuSurroundings surroundings = GpuSurroundings::OfThisProcess();
  const absl::Status account = TakeAccount(config);
  if (!account.ok()) {
    findings.push_back(Finding::Fail("account", std::string(account.message()), ""));
    return findings;
  }
  findings.push_back(
      Finding::Ok("account", absl::StrCat("uid ", ::geteuid(), ", state in ", config.state_dir())));
  Append(CheckDisk(config.state_dir()), &findings);
  if (!config.compile_only()) findings.push_back(CheckBinaries(config));

  std::unique_ptr<Sandbox> sandbox;
  findings.push_back(CheckSandbox(config.sandbox(), &sandbox));
  if (sandbox != nullptr) {
    findings.push_back(CheckCgroup(*sandbox));
    findings.push_back(TryIsolation(config.sandbox(), sandbox.get()));
    findings.push_back(TryLimits(config.sandbox(), sandbox.get()));
    // Not in the folders of a worker that may be running, as a toolchain cleans up its folder.
    std::string folder = config.state_dir() + "/selftest.XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) {
      findings.push_back(Finding::Fail("compiler", "cannot write to " + config.state_dir(), ""));
    } else {
      Append(CheckCompilers(config, folder, sandbox.get()), &findings);
      if (!config.compile_only()) {
        findings.push_back(TryEvaluation(config, folder, sandbox.get()));
      }
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
    }
  }

  bool gpus = false;
  const auto look_at = [&](const v1::DeviceSettings& device) {
    std::vector<Finding> of_device;
    if (device.device_class() == v1::DEVICE_CLASS_CUDA) {
      gpus = true;
      of_device = CheckGpus(device, surroundings);
    } else {
      of_device.push_back(CheckProcessors());
    }
    CheckStart(config, device, surroundings, &of_device);
    Append(std::move(of_device), &findings);
  };
  if (!config.compile_only()) {
    look_at(config.device());
    for (const v1::DeviceSettings& device : config.more_devices()) look_at(device);
  }
  if (gpus) Append(CheckCudaTools(), &findings);
  findings.push_back(CheckCoordinator(config.coordinator_address()));
  return findings;
}

}  // namespace ksearch

#include "gpu_worker/selftest/gpu_checks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/device/cuda_device_monitor.h"
#include "gpu_worker/device/gpu_probe.h"
#include "gpu_worker/device/xid/xid_watch.h"
#include "gpu_worker/sandbox/gpu_binds.h"
#include "gpu_worker/sandbox/privileges.h"
#ifdef KSEARCH_CUDA
#include "gpu_worker/cuda/driver_api.h"
#endif

namespace ksearch {
namespace {

Finding CheckDriver(const std::string& library) {
#ifdef KSEARCH_CUDA
  const auto api = DriverApi::Load(library);
  if (!api.ok()) {
    return Finding::Fail("driver", std::string(api.status().message()), "");
  }
  int version = 0;
  (*api)->cuDriverGetVersion(&version);
  return Finding::Ok("driver", absl::StrCat("libcuda starts, for CUDA ", version / 1000, ".",
                                            version % 1000 / 10));
#else
  return Finding::Fail("driver",
                       "this ksearch-worker was built without CUDA, so it cannot use " + library,
                       "build it where the CUDA toolkit is installed");
#endif
}

Finding CheckClocks(const NvmlGpu& gpu) {
  const auto clocks = gpu.Clocks();
  if (!clocks.ok()) {
    return Finding::Warn("clocks", std::string(clocks.status().message()),
                         "times cannot be cleaned of throttling");
  }
  const std::string text = absl::StrFormat(
      "GPU %d: SM %d of %d MHz, memory %d MHz, %d C, %d of %d W, event reasons 0x%x", gpu.index(),
      clocks->sm_mhz, gpu.MaxSmMhz().value_or(0), clocks->mem_mhz,
      gpu.TemperatureCelsius().value_or(0), gpu.PowerMilliwatts().value_or(0) / 1000,
      gpu.PowerLimitMilliwatts().value_or(0) / 1000, clocks->throttle_reason_bits);
  if ((clocks->throttle_reason_bits & kSlowdownReasons) != 0) {
    return Finding::Warn("clocks", text + ": slowed down", "look at cooling and power supply");
  }
  return Finding::Ok("clocks", text);
}

Finding CheckXidSource(const std::string& name, const std::string& source) {
  if (source != "nothing")
    return Finding::Ok("xid", name + ": driver errors are reported by " + source);
  return Finding::Warn("xid",
                       name +
                           ": neither NVML events nor the kernel's log (/dev/kmsg) tell of the "
                           "driver's errors, so only ECC counters and a lost GPU are noticed",
                       "start the worker as root where /dev/kmsg is");
}

void CheckOneGpu(const PresentGpu& gpu, const v1::DeviceSettings& settings,
                 const GpuSurroundings& surroundings, std::vector<Finding>* findings) {
  const std::string name = absl::StrCat("GPU ", gpu.facts.index, " ", gpu.facts.uuid);
  if (!gpu.reachable.ok()) {
    findings->push_back(Finding::Fail("gpu", std::string(gpu.reachable.message()), ""));
    return;
  }
  const absl::Status nodes = CheckDeviceNodes(surroundings.device_folder, gpu.facts);
  findings->push_back(nodes.ok()
                          ? Finding::Ok("nodes", name + ": this account may open its device nodes")
                          : Finding::Fail("nodes", std::string(nodes.message()), ""));
  if (gpu.nvml.has_value()) {
    const absl::Status free = CheckGpuIsFree(*gpu.nvml, settings);
    findings->push_back(
        free.ok() ? Finding::Ok("gpu",
                                absl::StrCat(name, ": ", gpu.facts.name, ", ",
                                             GpuArchitecture(gpu.facts.compute_major,
                                                             gpu.facts.compute_minor),
                                             ", ", gpu.facts.memory_bytes >> 30, " GiB, driver ",
                                             gpu.facts.driver, ", no other program computes on it"))
                  : Finding::Fail("gpu", std::string(free.message()), ""));
    findings->push_back(CheckClocks(*gpu.nvml));
    findings->push_back(CheckXidSource(name, XidWatch(gpu.nvml, surroundings.kernel_log).source()));
  }
  GpuHost host;
  host.dev = surroundings.device_folder;
  const auto binds = FindGpuBinds(gpu.facts.uuid, gpu.facts.node_number, host);
  findings->push_back(
      binds.ok() ? Finding::Ok("gpu sandbox", absl::StrCat(name, ": ", binds->binds.size(),
                                                           " files are shown to candidates, ",
                                                           "libraries of ", binds->library_folder))
                 : Finding::Fail("gpu sandbox", std::string(binds.status().message()), ""));
}

// The tool's path, on PATH or in the CUDA toolkits' folders.
std::string FindTool(const std::string& tool) {
  const auto on_path = FindOnPath(tool);
  if (on_path.ok()) return *on_path;
  const std::string usual = "/usr/local/cuda/bin/" + tool;
  return CheckExecutable(usual).ok() ? usual : "";
}

}  // namespace

std::vector<Finding> CheckGpus(const v1::DeviceSettings& settings,
                               const GpuSurroundings& surroundings) {
  std::vector<Finding> findings = {CheckDriver(surroundings.driver_library)};
  const auto nvml = NvmlApi::Load(surroundings.nvml_library);
  findings.push_back(
      nvml.ok() ? Finding::Ok("nvml", surroundings.nvml_library + " starts")
                : Finding::Warn("nvml", std::string(nvml.status().message()),
                                "heat, throttling and other programs on the GPU go unnoticed"));
  const auto present = FindGpus(surroundings.nvml_library, surroundings.driver_library);
  if (!present.ok()) {
    // Without the driver this would add nothing.
    if (findings[0].level == Finding::Level::kOk) {
      findings.push_back(Finding::Fail("gpu", std::string(present.status().message()), ""));
    }
    return findings;
  }
  std::vector<GpuFacts> facts;
  for (const PresentGpu& gpu : *present) facts.push_back(gpu.facts);
  const auto chosen = SelectGpus(facts, {settings.gpus().begin(), settings.gpus().end()},
                                 surroundings.visible_devices);
  if (!chosen.ok()) {
    findings.push_back(Finding::Fail("gpu", std::string(chosen.status().message()), ""));
    return findings;
  }
  std::vector<std::vector<Finding>> by_gpu;
  for (const GpuFacts& wanted : *chosen) {
    for (const PresentGpu& gpu : *present) {
      if (gpu.facts.uuid != wanted.uuid) continue;
      CheckOneGpu(gpu, settings, surroundings, &by_gpu.emplace_back());
    }
  }
  const bool one_works = std::any_of(by_gpu.begin(), by_gpu.end(), Usable);
  for (std::vector<Finding>& of_one : by_gpu) {
    for (Finding& finding : of_one) {
      if (one_works && finding.level == Finding::Level::kFail) {
        finding.level = Finding::Level::kWarn;
        finding.text += " (this GPU takes no jobs until that is fixed; the others do)";
      }
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

std::vector<Finding> CheckCudaTools(const std::string& params) {
  std::vector<Finding> findings;
  const struct {
    const char* tool;
    const char* without;
  } tools[] = {{"cuobjdump", "results have no facts of the machine code"},
               {"compute-sanitizer", "confirmations do without a memory check"},
               {"ncu", "prompts do without a profile"}};
  for (const auto& [tool, without] : tools) {
    const std::string path = FindTool(tool);
    if (path.empty()) {
      findings.push_back(Finding::Warn(tool, absl::StrCat("not found: ", without),
                                       "it comes with the CUDA toolkit; put it on PATH"));
      continue;
    }
    const std::string rules = ReadFile(params, 1 << 16).value_or("");
    if (absl::string_view(tool) == "ncu" && absl::StrContains(rules, "RmProfilingAdminOnly: 1")) {
      findings.push_back(Finding::Warn(
          tool, path + ": the driver lets only root profile, so prompts do without a profile",
          "load the driver with NVreg_RestrictProfilingToAdminUsers=0"));
      continue;
    }
    findings.push_back(Finding::Ok(tool, path));
  }
  return findings;
}

}  // namespace ksearch

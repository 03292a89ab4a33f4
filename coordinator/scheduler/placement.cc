#include "coordinator/scheduler/placement.h"

#include <algorithm>

#include "common/job_kind.h"

namespace ksearch {

Requirement RequirementOf(const v1::JobSpec& spec) {
  Requirement requirement;
  requirement.device = spec.device();
  requirement.architecture = spec.architecture();
  requirement.build_only = TakesNoDevice(spec.kind());
  requirement.device_model = spec.platform().device_model();
  requirement.device_architecture = spec.platform().architecture();
  requirement.harness_version = spec.platform().harness_version();
  requirement.toolkit = spec.platform().toolkit();
  if (!requirement.toolkit.empty()) requirement.toolkit_language = spec.candidate().language();
  requirement.languages.push_back(spec.candidate().language());
  if (spec.has_reference()) requirement.languages.push_back(spec.reference().language());
  if (spec.has_baseline()) requirement.languages.push_back(spec.baseline().language());
  for (const v1::Rival& rival : spec.rivals()) {
    if (rival.has_sources()) requirement.languages.push_back(rival.sources().language());
  }
  std::sort(requirement.languages.begin(), requirement.languages.end());
  requirement.languages.erase(
      std::unique(requirement.languages.begin(), requirement.languages.end()),
      requirement.languages.end());
  return requirement;
}

namespace {

bool MeetsArchitecture(const v1::DeviceCapability& device, const Requirement& requirement) {
  if (requirement.architecture.empty()) return true;
  if (!requirement.build_only) {
    return requirement.architecture == device.fingerprint().architecture();
  }
  const auto& known = device.build_architectures();
  return known.empty() ||
         std::find(known.begin(), known.end(), requirement.architecture) != known.end();
}

// An empty field of the requirement is met by anything.
bool Meets(const std::string& has, const std::string& wants) {
  return wants.empty() || has == wants;
}

bool MeetsPlatform(const v1::DeviceCapability& device, const Requirement& requirement) {
  const v1::DeviceFingerprint& print = device.fingerprint();
  return Meets(print.name(), requirement.device_model) &&
         Meets(print.architecture(), requirement.device_architecture) &&
         Meets(print.harness_version(), requirement.harness_version) &&
         (requirement.toolkit.empty() ||
          std::any_of(device.toolkits().begin(), device.toolkits().end(), [&](const auto& one) {
            return one.language() == requirement.toolkit_language &&
                   one.toolkit() == requirement.toolkit;
          }));
}

}  // namespace

bool CanRun(const v1::WorkerHello& hello, const Requirement& requirement) {
  for (const v1::DeviceCapability& device : hello.devices()) {
    if (requirement.device != v1::DEVICE_CLASS_UNSPECIFIED &&
        requirement.device != device.device_class()) {
      continue;
    }
    if (device.build_only() && !requirement.build_only) continue;
    if (!MeetsArchitecture(device, requirement) || !MeetsPlatform(device, requirement)) continue;
    const bool speaks_all =
        std::all_of(requirement.languages.begin(), requirement.languages.end(), [&](int language) {
          return std::find(device.languages().begin(), device.languages().end(), language) !=
                 device.languages().end();
        });
    if (speaks_all) return true;
  }
  return false;
}

}  // namespace ksearch

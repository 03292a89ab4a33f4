#include "coordinator/scheduler/placement.h"

#include <algorithm>

namespace ksearch {

Requirement RequirementOf(const v1::JobSpec& spec) {
  Requirement requirement;
  requirement.device = spec.device();
  requirement.architecture = spec.architecture();
  requirement.build_only = spec.kind() == v1::JOB_KIND_BUILD;
  requirement.languages.push_back(spec.candidate().language());
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

}  // namespace

bool CanRun(const v1::WorkerHello& hello, const Requirement& requirement) {
  for (const v1::DeviceCapability& device : hello.devices()) {
    if (requirement.device != v1::DEVICE_CLASS_UNSPECIFIED &&
        requirement.device != device.device_class()) {
      continue;
    }
    if (device.build_only() && !requirement.build_only) continue;
    if (!MeetsArchitecture(device, requirement)) continue;
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

#include "common/platform.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/job_kind.h"

namespace ksearch {

v1::Platform PlatformOf(const v1::DeviceFingerprint& device) {
  v1::Platform platform;
  platform.set_device_model(device.name());
  platform.set_architecture(device.architecture());
  platform.set_harness_version(device.harness_version());
  platform.set_toolkit(device.toolkit());
  return platform;
}

v1::Platform PlatformFor(v1::JobKind kind, v1::Platform platform) {
  if (TakesNoDevice(kind)) {
    platform.clear_device_model();
    platform.clear_architecture();
  }
  return platform;
}

bool Meets(const v1::Platform& platform, const v1::Platform& wanted) {
  const auto meets = [](const std::string& has, const std::string& wants) {
    return wants.empty() || has == wants;
  };
  return meets(platform.device_model(), wanted.device_model()) &&
         meets(platform.architecture(), wanted.architecture()) &&
         meets(platform.harness_version(), wanted.harness_version()) &&
         meets(platform.toolkit(), wanted.toolkit());
}

bool IsComplete(const v1::Platform& platform) {
  return !platform.device_model().empty() && !platform.architecture().empty() &&
         !platform.harness_version().empty() && !platform.toolkit().empty();
}

std::string PlatformText(const v1::Platform& platform) {
  std::vector<std::string> parts;
  const bool both = !platform.device_model().empty() && !platform.architecture().empty();
  const std::string device =
      absl::StrCat(platform.device_model(), both ? " " : "", platform.architecture());
  if (!device.empty()) parts.push_back(device);
  if (!platform.harness_version().empty()) {
    parts.push_back(absl::StrCat("harness ", platform.harness_version()));
  }
  if (!platform.toolkit().empty()) parts.push_back(platform.toolkit());
  return parts.empty() ? "any" : absl::StrJoin(parts, ", ");
}

}  // namespace ksearch

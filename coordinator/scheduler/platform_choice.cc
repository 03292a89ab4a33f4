#include "coordinator/scheduler/platform_choice.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/platform.h"
#include "coordinator/scheduler/placement.h"

namespace ksearch {
namespace {

std::string ToolkitFor(const v1::DeviceCapability& device, v1::Language language) {
  for (const v1::LanguageToolkit& toolkit : device.toolkits()) {
    if (toolkit.language() == language) return toolkit.toolkit();
  }
  return "";
}

// The name of one field of a platform, and how it is read.
struct Field {
  const char* name;
  const std::string& (*of)(const v1::Platform&);
};

const Field kFields[] = {
    {"device model", [](const v1::Platform& p) -> const std::string& { return p.device_model(); }},
    {"architecture", [](const v1::Platform& p) -> const std::string& { return p.architecture(); }},
    {"harness version",
     [](const v1::Platform& p) -> const std::string& { return p.harness_version(); }},
    {"toolkit", [](const v1::Platform& p) -> const std::string& { return p.toolkit(); }},
};

}  // namespace

std::vector<v1::Platform> PlatformsFor(const std::vector<v1::WorkerHello>& workers,
                                       const v1::JobSpec& spec) {
  const Requirement requirement = RequirementOf(spec);
  // By text, with the number of devices.
  std::map<std::string, std::pair<v1::Platform, int>> found;
  for (const v1::WorkerHello& worker : workers) {
    for (const v1::DeviceCapability& device : worker.devices()) {
      v1::WorkerHello alone;
      *alone.add_devices() = device;
      if (!CanRun(alone, requirement)) continue;
      v1::Platform platform = PlatformOf(device.fingerprint());
      platform.set_toolkit(ToolkitFor(device, spec.candidate().language()));
      platform = PlatformFor(spec.kind(), std::move(platform));
      const std::string text = PlatformText(platform);
      ++found.try_emplace(text, std::move(platform), 0).first->second.second;
    }
  }
  std::vector<std::pair<v1::Platform, int>> ranked;
  for (auto& [text, entry] : found) ranked.push_back(std::move(entry));
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<v1::Platform> platforms;
  for (auto& [platform, devices] : ranked) platforms.push_back(std::move(platform));
  return platforms;
}

std::string WhyStale(const v1::JobSpec& spec, const std::vector<v1::Platform>& platforms) {
  const v1::Platform& wanted = spec.platform();
  if (platforms.empty()) return "no worker is known that could do such a job";
  // Workers that report no platform.
  if (std::any_of(platforms.begin(), platforms.end(),
                  [](const v1::Platform& platform) { return platform.ByteSizeLong() == 0; }) &&
      wanted.ByteSizeLong() == 0) {
    return "";
  }
  if (wanted.ByteSizeLong() == 0) return "recorded without what it was measured with";
  std::vector<v1::Platform> left = platforms;
  for (const Field& field : kFields) {
    const std::string& value = field.of(wanted);
    if (value.empty()) continue;
    std::set<std::string> others;
    for (const v1::Platform& platform : left) others.insert(field.of(platform));
    if (!others.contains(value)) {
      return absl::StrCat(field.name, ": ", value, "; workers have ",
                          absl::StrJoin(others, " or "));
    }
    std::erase_if(left, [&](const v1::Platform& platform) { return field.of(platform) != value; });
  }
  return "";
}

}  // namespace ksearch

#include "cli/local/machine_part.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "common/language.h"

namespace ksearch {
namespace {

// What the self-test calls findings on one part of the machine, and on the machine as a whole.
constexpr absl::string_view kOfParts[] = {"compiler", "processors", "gpu"};
constexpr absl::string_view kOfMachine[] = {"account", "disk", "programs", "sandbox", "config"};
// Findings to leave out: no coordinator runs yet.
constexpr absl::string_view kUntold[] = {"coordinator"};

template <typename Names, typename Name>
bool IsOneOf(const Names& names, const Name& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string Field(const google::protobuf::Struct& json, const std::string& name) {
  const auto found = json.fields().find(name);
  return found == json.fields().end() ? "" : found->second.string_value();
}

void CheckForGpu(const MachineFacts& machine, MachinePart* part) {
  if (part->device != v1::DEVICE_CLASS_CUDA || !machine.gpus.empty()) return;
  part->missing = absl::StrCat(
      "there is no GPU", machine.nvcc.empty() ? "" : absl::StrCat("; nvcc is ", machine.nvcc));
  part->fix = "in a container on a machine with GPUs, start it with them (docker: --gpus all)";
}

// Names the device where the language runs on several; empty where it has only one.
absl::string_view Where(const LanguageFacts& language, v1::DeviceClass device) {
  if (language.built_for.size() < 2) return "";
  return device == v1::DEVICE_CLASS_CUDA ? " for GPUs" : " for processors";
}

void CheckForToolkit(const MachineFacts& machine, const LanguageFacts& language,
                     const std::string& binary_folder, MachinePart* part) {
  switch (language.toolkit) {
    case Toolkit::kGxx:
      if (machine.gxx.empty()) part->missing = "there is no g++ on PATH";
      break;
    case Toolkit::kNvcc:
      if (machine.nvcc.empty()) {
        part->missing = absl::StrCat(absl::StrJoin(machine.gpus, ", "), ", but no nvcc");
      }
      break;
    case Toolkit::kPython:
      if (machine.python.empty()) {
        part->missing = "there is no python3 on PATH, and no VIRTUAL_ENV";
      } else if (::access((binary_folder + "/libksearch_python_runner.so").c_str(), R_OK) != 0) {
        part->missing = absl::StrCat(binary_folder, " has no libksearch_python_runner.so");
        part->fix = "build the target ksearch_python_runner, too (cmake --build --preset release)";
      }
      break;
    case Toolkit::kNone:
      part->missing = "nothing here builds it";
      break;
  }
  if (!part->missing.empty() && part->fix.empty()) {
    part->fix = std::string(language.toolkit_advice);
  }
}

}  // namespace

std::vector<MachinePart> PartsOf(const MachineFacts& machine, const std::string& binary_folder) {
  std::vector<MachinePart> parts;
  for (const LanguageFacts& language : Languages()) {
    for (const v1::DeviceClass device : language.built_for) {
      MachinePart& part = parts.emplace_back();
      part.language = language.id;
      part.device = device;
      CheckForGpu(machine, &part);
      if (part.missing.empty()) CheckForToolkit(machine, language, binary_folder, &part);
      if (!part.missing.empty()) {
        part.missing = absl::StrCat("no ", language.title, " candidates", Where(language, device),
                                    ": ", part.missing);
      }
    }
  }
  return parts;
}

v1::WorkerConfig WorkerConfigFor(const std::vector<MachinePart>& parts) {
  v1::WorkerConfig config;
  std::vector<v1::Language> languages;
  std::vector<v1::DeviceClass> devices;
  for (const MachinePart& part : parts) {
    if (!IsOneOf(languages, part.language)) {
      languages.push_back(part.language);
      config.add_toolchains()->set_language(part.language);
    }
    if (IsOneOf(devices, part.device)) continue;
    devices.push_back(part.device);
    v1::DeviceSettings* const device =
        devices.size() == 1 ? config.mutable_device() : config.add_more_devices();
    device->set_device_class(part.device);
  }
  return config;
}

absl::StatusOr<SelfTestReport> ParseSelfTest(const std::string& json) {
  google::protobuf::Struct document;
  if (!google::protobuf::util::JsonStringToMessage(json, &document).ok() ||
      document.fields().count("usable") == 0 || document.fields().count("findings") == 0) {
    return absl::InvalidArgumentError("ksearch-worker --selftest printed no report");
  }
  SelfTestReport report;
  report.usable = document.fields().at("usable").bool_value();
  for (const auto& value : document.fields().at("findings").list_value().values()) {
    const std::string level = Field(value.struct_value(), "level");
    const std::string what = Field(value.struct_value(), "what");
    LocalFinding finding;
    finding.what = absl::StrCat(
        what, ": ", absl::StrReplaceAll(Field(value.struct_value(), "text"), {{"\n", "; "}}));
    finding.fix = absl::StrReplaceAll(Field(value.struct_value(), "fix"), {{"\n", "; "}});
    if (level == "OK") {
      finding.good = true;
      if (IsOneOf(kOfParts, what) || what == "sandbox") report.found.push_back(finding);
    } else if (!IsOneOf(kUntold, what)) {
      report.lacking.push_back(finding);
      report.machine_is_at_fault |= level == "FAIL" && IsOneOf(kOfMachine, what);
    }
  }
  return report;
}

}  // namespace ksearch

#include "cli/local/machine_facts.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/subprocess.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

std::vector<std::string> Gpus(const std::string& driver_folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& gpu : std::filesystem::directory_iterator(driver_folder, none)) {
    const auto facts = ReadFile((gpu.path() / "information").string(), 64 << 10);
    std::string name = "a GPU";
    for (const absl::string_view line : absl::StrSplit(facts.value_or(""), '\n')) {
      absl::string_view rest = line;
      if (absl::ConsumePrefix(&rest, "Model:")) {
        name = std::string(absl::StripAsciiWhitespace(rest));
      }
    }
    names.push_back(name);
  }
  return names;
}

bool IsProgram(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

// The program's path on the PATH of `environment`; empty if it is not there.
std::string Find(const Environment& environment, const std::string& program) {
  const std::string path = ValueOf(environment, "PATH");
  for (const absl::string_view folder : absl::StrSplit(path, ':', absl::SkipEmpty())) {
    const std::string candidate = absl::StrCat(folder, "/", program);
    if (IsProgram(candidate)) return candidate;
  }
  return "";
}

}  // namespace

MachineFacts ExamineMachine(const Environment& environment, const std::string& driver_folder) {
  MachineFacts machine;
  machine.gpus = Gpus(driver_folder);
  machine.gxx = Find(environment, "g++");
  machine.nvcc = Find(environment, "nvcc");
  constexpr char kUsualNvcc[] = "/usr/local/cuda/bin/nvcc";
  if (machine.nvcc.empty() && IsProgram(kUsualNvcc)) machine.nvcc = kUsualNvcc;
  // A bundle brings its own.
  machine.bubblewrap = BinaryFolder() + "/bwrap";
  if (!IsProgram(machine.bubblewrap)) machine.bubblewrap = Find(environment, "bwrap");
  const std::string virtual_environment = ValueOf(environment, "VIRTUAL_ENV");
  if (!virtual_environment.empty() && IsProgram(virtual_environment + "/bin/python3")) {
    machine.python = virtual_environment + "/bin/python3";
  } else {
    machine.python = Find(environment, "python3");
  }
  return machine;
}

}  // namespace ksearch

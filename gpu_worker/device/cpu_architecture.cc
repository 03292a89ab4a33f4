#include "gpu_worker/device/cpu_architecture.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ksearch {
namespace {

// Levels as in the x86-64 psABI, chapter "Micro-Architecture Levels", under the kernel's names
// (abm = LZCNT, xsave stands for OSXSAVE).
const std::vector<std::vector<absl::string_view>>& LevelsFromV2() {
  static const auto* const levels = new std::vector<std::vector<absl::string_view>>{
      {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
      {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"},
      {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}};
  return *levels;
}

constexpr absl::string_view kNotableExtensions[] = {"avx_vnni",    "avx512_vnni", "avx512_bf16",
                                                    "avx512_fp16", "amx_bf16",    "amx_int8"};

}  // namespace

CpuModel ParseCpuInfo(absl::string_view cpuinfo, absl::string_view machine) {
  CpuModel model;
  absl::flat_hash_set<absl::string_view> flags;
  for (absl::string_view line : absl::StrSplit(cpuinfo, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (parts.size() != 2) continue;
    const absl::string_view key = absl::StripAsciiWhitespace(parts[0]);
    const absl::string_view value = absl::StripAsciiWhitespace(parts[1]);
    if (key == "model name" && model.name.empty()) model.name = std::string(value);
    if (key == "flags" && flags.empty()) flags = absl::StrSplit(value, ' ', absl::SkipEmpty());
  }
  model.architecture = std::string(machine);
  if (machine != "x86_64") return model;
  int level = 1;
  for (const std::vector<absl::string_view>& required : LevelsFromV2()) {
    bool complete = true;
    for (absl::string_view flag : required) complete &= flags.contains(flag);
    if (!complete) break;
    ++level;
  }
  model.architecture = absl::StrCat("x86-64-v", level);
  for (absl::string_view extension : kNotableExtensions) {
    if (flags.contains(extension)) absl::StrAppend(&model.architecture, "+", extension);
  }
  return model;
}

}  // namespace ksearch

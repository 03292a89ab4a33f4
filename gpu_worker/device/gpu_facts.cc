#include "gpu_worker/device/gpu_facts.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

std::string ListOf(const std::vector<GpuFacts>& gpus) {
  if (gpus.empty()) return "none";
  return absl::StrJoin(gpus, ", ", [](std::string* out, const GpuFacts& gpu) {
    absl::StrAppend(out, gpu.index, " = ", gpu.uuid, " (", gpu.name, ")");
  });
}

absl::StatusOr<GpuFacts> FindGpu(const std::vector<GpuFacts>& gpus, absl::string_view word,
                                 absl::string_view source) {
  std::vector<GpuFacts> found;
  int index = 0;
  const bool by_index = absl::SimpleAtoi(word, &index);
  for (const GpuFacts& gpu : gpus) {
    if (by_index ? gpu.index == index : absl::StartsWithIgnoreCase(gpu.uuid, word)) {
      found.push_back(gpu);
    }
  }
  if (found.size() == 1) return found[0];
  if (found.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, ": '", word, "' fits several GPUs: ", ListOf(found)));
  }
  return absl::NotFoundError(
      absl::StrCat(source, ": there is no GPU '", word, "' here; there is: ", ListOf(gpus)));
}

// The GPUs that `words` select, in the order of `words`.
absl::StatusOr<std::vector<GpuFacts>> Choose(const std::vector<GpuFacts>& gpus,
                                             const std::vector<std::string>& words,
                                             absl::string_view source) {
  std::vector<GpuFacts> chosen;
  for (const std::string& word : words) {
    ASSIGN_OR_RETURN(GpuFacts gpu, FindGpu(gpus, word, source));
    for (const GpuFacts& other : chosen) {
      if (other.uuid == gpu.uuid) {
        return absl::InvalidArgumentError(
            absl::StrCat(source, ": '", word, "' names GPU ", gpu.uuid, " a second time"));
      }
    }
    chosen.push_back(std::move(gpu));
  }
  return chosen;
}

}  // namespace

std::string GpuArchitecture(int compute_major, int compute_minor) {
  return absl::StrCat("sm_", compute_major, compute_minor, compute_major >= 9 ? "a" : "");
}

int64_t KnownL2Bytes(absl::string_view gpu_name) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  if (absl::StrContains(gpu_name, "H200")) return 60 * kMiB;
  if (absl::StrContains(gpu_name, "H100")) return 50 * kMiB;
  if (absl::StrContains(gpu_name, "B200")) return 126 * kMiB;
  return 0;
}

absl::StatusOr<std::vector<GpuFacts>> SelectGpus(const std::vector<GpuFacts>& present,
                                                 const std::vector<std::string>& wanted,
                                                 const std::optional<std::string>& visible) {
  std::vector<GpuFacts> bounded = present;
  if (visible.has_value()) {
    std::vector<std::string> words;
    for (absl::string_view word : absl::StrSplit(*visible, ',', absl::SkipWhitespace())) {
      words.emplace_back(absl::StripAsciiWhitespace(word));
    }
    ASSIGN_OR_RETURN(bounded, Choose(present, words, "CUDA_VISIBLE_DEVICES"));
  }
  if (bounded.empty()) {
    return absl::NotFoundError(
        absl::StrCat("device.gpus: no GPU is visible",
                     visible.has_value() ? " (CUDA_VISIBLE_DEVICES hides them)" : ""));
  }
  if (wanted.empty() || wanted == std::vector<std::string>{"all"}) return bounded;
  if (std::find(wanted.begin(), wanted.end(), "all") != wanted.end()) {
    return absl::InvalidArgumentError("device.gpus: \"all\" must be the only entry");
  }
  return Choose(bounded, wanted, "device.gpus");
}

absl::Status CheckDriverRuns(int driver_cuda_version, absl::string_view toolkit) {
  constexpr absl::string_view kMark = "nvcc release ";
  const size_t mark = toolkit.find(kMark);
  if (driver_cuda_version == 0 || mark == absl::string_view::npos) return absl::OkStatus();
  absl::string_view version = toolkit.substr(mark + kMark.size());
  version = version.substr(0, version.find_first_not_of("0123456789."));
  int major = 0;
  if (!absl::SimpleAtoi(version.substr(0, version.find('.')), &major) ||
      major <= driver_cuda_version / 1000) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("nvcc is of CUDA ", version, ", but this machine's driver is for CUDA ",
                   driver_cuda_version / 1000, ".", driver_cuda_version % 1000 / 10,
                   " and does not run what it builds: install a newer driver, or name an nvcc of "
                   "CUDA ",
                   driver_cuda_version / 1000, " (toolchains.compiler_path)"));
}

}  // namespace ksearch

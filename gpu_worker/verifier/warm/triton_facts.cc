#include "gpu_worker/verifier/warm/triton_facts.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/textproto.h"
#include "gpu_worker/build/cuda/cubin_facts.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostKernels = 32;
constexpr size_t kMostFiles = 1000;
constexpr int64_t kMaxCubinBytes = int64_t{16} << 20;
constexpr int64_t kMaxJsonBytes = int64_t{1} << 20;
constexpr int64_t kMostSharedBytes = int64_t{1} << 30;
constexpr int64_t kMostWarps = 64;

// Returns the integer after `"name": ` in a JSON text; 0 if there is none, or none from 1 to
// `most`.
int64_t NumberIn(absl::string_view json, absl::string_view name, int64_t most) {
  const std::string key = absl::StrCat("\"", name, "\":");
  const size_t at = json.find(key);
  if (at == absl::string_view::npos) return 0;
  json.remove_prefix(at + key.size());
  json = absl::StripLeadingAsciiWhitespace(json);
  json = json.substr(0, json.find_first_not_of("0123456789"));
  int64_t number = 0;
  return absl::SimpleAtoi(json, &number) && number >= 1 && number <= most ? number : 0;
}

}  // namespace

std::vector<v1::KernelFacts> TritonFacts(const std::string& folder) {
  // Keyed by the kernel's name and its known facts.
  std::map<std::pair<std::string, std::string>, v1::KernelFacts> found;
  std::error_code error;
  size_t files = 0;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const fs::path& path = at->path();
    std::error_code ignored;
    // Does not follow links.
    const fs::file_type type = at->symlink_status(ignored).type();
    if (path.extension() != ".cubin" || type != fs::file_type::regular) continue;
    if (++files > kMostFiles) break;
    const auto cubin = ReadFile(path, kMaxCubinBytes);
    if (!cubin.ok()) continue;
    const fs::path beside = fs::path(path).replace_extension(".json");
    const bool described = fs::symlink_status(beside, ignored).type() == fs::file_type::regular;
    absl::StatusOr<std::string> json = std::string();
    if (described) json = ReadFile(beside, kMaxJsonBytes);
    for (v1::KernelFacts& kernel : ReadCubin(*cubin)) {
      if (json.ok()) {
        kernel.set_dynamic_shared_bytes(NumberIn(*json, "shared", kMostSharedBytes));
        kernel.set_warps(static_cast<int32_t>(NumberIn(*json, "num_warps", kMostWarps)));
        // CUDA's own reservation; all shared memory of Triton's kernels is dynamic.
        if (kernel.warps() > 0) kernel.clear_static_shared_bytes();
      }
      std::pair<std::string, std::string> key = {kernel.name(), kernel.SerializeAsString()};
      found.emplace(std::move(key), std::move(kernel));
    }
  }
  std::vector<v1::KernelFacts> kernels;
  for (auto& [key, kernel] : found) {
    if (kernels.size() == kMostKernels) break;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace ksearch

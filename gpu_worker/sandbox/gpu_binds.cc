#include "gpu_worker/sandbox/gpu_binds.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr char kDriverLibrary[] = "libcuda.so.1";
// Libraries that libcuda opens by name, such as compilers of PTX, but not those for debuggers,
// displays and video.
constexpr absl::string_view kLibraries[] = {"libcuda.so", "libnvidia-ptxjitcompiler.so",
                                            "libnvidia-nvvm", "libnvidia-gpucomp"};
constexpr char kOneGpuPrefix[] = "nvidia";
// A CUDA process has a few driver threads and may start one of its own per core.
constexpr int kGpuProcesses = 256;
constexpr int kGpuOpenFiles = 1024;

std::string Field(absl::string_view line, absl::string_view name) {
  if (!absl::ConsumePrefix(&line, name) || !absl::ConsumePrefix(&line, ":")) return "";
  return std::string(absl::StripAsciiWhitespace(line));
}

// The folders that every sandbox sees at the same place.
bool InsideAnyway(const std::string& path) {
  for (const absl::string_view folder : {"/usr/", "/lib/", "/lib64/"}) {
    if (absl::StartsWith(path, folder)) return true;
  }
  return false;
}

absl::StatusOr<std::string> AskLoader() {
  void* const library = ::dlopen(kDriverLibrary, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return absl::NotFoundError(absl::StrCat("no CUDA driver: ", reason == nullptr ? "?" : reason,
                                            "; install the NVIDIA driver, or in a container give "
                                            "it the driver's libraries"));
  }
  struct link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr ||
      map->l_name[0] != '/') {
    return absl::NotFoundError("the loader does not tell where libcuda.so.1 is");
  }
  return std::string(map->l_name);
}

std::vector<std::string> GpuNodes(const std::string& dev) {
  std::vector<std::string> nodes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dev, error)) {
    const std::string name = entry.path().filename();
    absl::string_view number = name;
    int minor;
    if (absl::ConsumePrefix(&number, kOneGpuPrefix) && absl::SimpleAtoi(number, &minor)) {
      nodes.push_back(entry.path());
    }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

absl::StatusOr<std::string> GpuNode(absl::string_view uuid, std::optional<int> minor,
                                    const GpuHost& host) {
  if (!minor.has_value()) {
    const absl::StatusOr<int> found = GpuMinor(host.proc_gpus, uuid);
    if (found.ok()) {
      minor = *found;
    } else {
      const std::vector<std::string> nodes = GpuNodes(host.dev);
      if (nodes.size() == 1) return nodes[0];
      return Annotate(found.status(),
                      nodes.empty()
                          ? absl::StrCat("no ", host.dev, "/nvidia<N>")
                          : absl::StrCat("which of ", absl::StrJoin(nodes, ", "), " is it"));
    }
  }
  return absl::StrCat(host.dev, "/", kOneGpuPrefix, *minor);
}

absl::Status AddNode(const std::string& path, bool needed, GpuBinds* gpu) {
  if (::access(path.c_str(), R_OK | W_OK) == 0) {
    gpu->binds.push_back({path, path, true, true});
    return absl::OkStatus();
  }
  if (!needed) return absl::OkStatus();
  if (::access(path.c_str(), F_OK) == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " cannot be opened by uid ", ::geteuid(),
        ": give its group or everyone read and write permission (NVreg_DeviceFileMode=0666)"));
  }
  return absl::NotFoundError(absl::StrCat(
      path,
      " is not there: load the driver's modules and make its nodes (nvidia-modprobe -u -c 0)"));
}

}  // namespace

absl::StatusOr<int> GpuMinor(const std::string& proc_gpus, absl::string_view uuid) {
  std::vector<std::string> there;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(proc_gpus, error)) {
    std::ifstream file(entry.path() / "information");
    std::string line, found_uuid, found_minor;
    while (std::getline(file, line)) {
      if (const std::string value = Field(line, "GPU UUID"); !value.empty()) found_uuid = value;
      if (const std::string value = Field(line, "Device Minor"); !value.empty()) {
        found_minor = value;
      }
    }
    int minor;
    if (absl::EqualsIgnoreCase(found_uuid, uuid) && absl::SimpleAtoi(found_minor, &minor) &&
        minor >= 0) {
      return minor;
    }
    if (!found_uuid.empty()) there.push_back(found_uuid);
  }
  return absl::NotFoundError(
      absl::StrCat("no GPU ", uuid, " under ", proc_gpus,
                   there.empty() ? "" : absl::StrCat("; there are ", absl::StrJoin(there, ", "))));
}

absl::StatusOr<GpuBinds> FindGpuBinds(absl::string_view uuid, std::optional<int> minor,
                                      const GpuHost& host) {
  GpuBinds gpu;
  ASSIGN_OR_RETURN(const std::string node, GpuNode(uuid, minor, host));
  RETURN_IF_ERROR(AddNode(node, true, &gpu));
  RETURN_IF_ERROR(AddNode(host.dev + "/nvidiactl", true, &gpu));
  RETURN_IF_ERROR(AddNode(host.dev + "/nvidia-uvm", true, &gpu));
  RETURN_IF_ERROR(AddNode(host.dev + "/nvidia-uvm-tools", false, &gpu));
  // cuInit reads what the kernel says about PCI devices and memory nodes.
  gpu.binds.push_back({"/sys", "/sys", false, false});

  std::string library = host.driver_library;
  if (library.empty()) {
    ASSIGN_OR_RETURN(library, AskLoader());
  }
  gpu.library_folder = fs::path(library).parent_path();
  std::set<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(gpu.library_folder, error)) {
    const std::string name = entry.path().filename();
    const auto named = [&name](absl::string_view start) { return absl::StartsWith(name, start); };
    if (std::none_of(std::begin(kLibraries), std::end(kLibraries), named)) continue;
    files.insert(entry.path());
  }
  if (files.count(library) == 0) {
    return absl::NotFoundError(absl::StrCat("cannot list ", gpu.library_folder,
                                            ", where the loader found ", kDriverLibrary));
  }
  for (const std::string& file : files) {
    // A bind follows links: each name becomes the file that it leads to.
    if (!InsideAnyway(file)) gpu.binds.push_back({file, file, false, false});
  }
  return gpu;
}

void AddGpu(const GpuBinds& gpu, absl::string_view uuid, SandboxSpec* spec) {
  spec->binds.insert(spec->binds.end(), gpu.binds.begin(), gpu.binds.end());
  spec->environment["CUDA_VISIBLE_DEVICES"] = std::string(uuid);
  spec->environment["CUDA_CACHE_DISABLE"] = "1";
  // Otherwise a kernel would be loaded at its first launch, in a timed call. Programs whose
  // libraries have thousands of kernels override this.
  spec->environment.emplace("CUDA_MODULE_LOADING", "EAGER");
  spec->environment["LD_LIBRARY_PATH"] = gpu.library_folder;
  spec->address_space_bytes = 0;
  spec->max_processes = std::max(spec->max_processes, kGpuProcesses);
  spec->max_open_files = std::max(spec->max_open_files, kGpuOpenFiles);
}

}  // namespace ksearch

#ifndef KSEARCH_GPU_WORKER_SANDBOX_GPU_BINDS_H_
#define KSEARCH_GPU_WORKER_SANDBOX_GPU_BINDS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/sandbox/sandbox.h"

namespace ksearch {

// What a sandboxed program needs of the host to use one NVIDIA GPU: that GPU's device node and the
// nodes that all share, and the driver's libraries where the loader finds them. Other GPUs' nodes
// stay out.
struct GpuBinds {
  std::vector<SandboxSpec::Bind> binds;
  // The folder of the driver's libraries, for LD_LIBRARY_PATH.
  std::string library_folder;
};

// Where FindGpuBinds looks.
struct GpuHost {
  std::string proc_gpus = "/proc/driver/nvidia/gpus";
  std::string dev = "/dev";
  // libcuda.so.1 as the loader finds it; empty: ask the loader.
  std::string driver_library;
};

// The minor number N of /dev/nvidiaN of the GPU with this UUID, from <proc_gpus>/*/information.
// NOT_FOUND lists the UUIDs that are there.
absl::StatusOr<int> GpuMinor(const std::string& proc_gpus, absl::string_view uuid);

// `minor`: if known otherwise (NVML); absent: GpuMinor, and if that finds nothing, the only node
// there is. NOT_FOUND or FAILED_PRECONDITION name the node or library that is missing and what to
// do.
absl::StatusOr<GpuBinds> FindGpuBinds(absl::string_view uuid, std::optional<int> minor,
                                      const GpuHost& host);

// Adds binds and environment (which leaves CUDA_MODULE_LOADING as it is set), and raises the limits
// that a CUDA process exceeds by its nature: address space, threads, open files.
void AddGpu(const GpuBinds& gpu, absl::string_view uuid, SandboxSpec* spec);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_GPU_BINDS_H_

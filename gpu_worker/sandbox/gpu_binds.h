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

// The host files that a sandboxed program needs to use one NVIDIA GPU: that GPU's device node and
// the nodes that all GPUs share, and the driver's libraries in the places where the loader finds
// them. The nodes of other GPUs are excluded.
struct GpuBinds {
  std::vector<SandboxSpec::Bind> binds;
  // The folder of the driver's libraries, for LD_LIBRARY_PATH.
  std::string library_folder;
};

// The places that FindGpuBinds searches.
struct GpuHost {
  std::string proc_gpus = "/proc/driver/nvidia/gpus";
  std::string dev = "/dev";
  // Path of libcuda.so.1 as the loader finds it; empty: ask the loader.
  std::string driver_library;
};

// Returns the minor number N of /dev/nvidiaN of the GPU with this UUID, from
// <proc_gpus>/*/information. NOT_FOUND lists the existing UUIDs.
absl::StatusOr<int> GpuMinor(const std::string& proc_gpus, absl::string_view uuid);

// `minor`: if known from elsewhere (NVML); absent: GpuMinor, and if that finds nothing, the only
// node that exists. NOT_FOUND or FAILED_PRECONDITION name the missing node or library and what to
// do.
absl::StatusOr<GpuBinds> FindGpuBinds(absl::string_view uuid, std::optional<int> minor,
                                      const GpuHost& host);

// Adds binds and environment (CUDA_MODULE_LOADING stays unchanged), and raises the limits that CUDA
// processes necessarily exceed: address space, threads, open files.
void AddGpu(const GpuBinds& gpu, absl::string_view uuid, SandboxSpec* spec);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SANDBOX_GPU_BINDS_H_

#ifndef KSEARCH_GPU_WORKER_DEVICE_GPU_PROBE_H_
#define KSEARCH_GPU_WORKER_DEVICE_GPU_PROBE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu_worker/device/gpu_facts.h"
#include "gpu_worker/device/nvml/nvml_gpu.h"

namespace ksearch {

// Returns true if this build had the CUDA toolkit.
bool BuiltWithCuda();

struct PresentGpu {
  GpuFacts facts;
  std::optional<NvmlGpu> nvml;  // absent: found only through the driver
  // Not OK if NVML lists the GPU but cannot access it: of the facts, only the index and a made-up
  // UUID are set.
  absl::Status reachable = absl::OkStatus();
};

// Returns every GPU of this machine, unresponsive ones last, through NVML, or without it through
// the driver, which creates no context for that; a line is logged then. NOT_FOUND: there is
// neither; FAILED_PRECONDITION: they exist but do not start. Messages say what to do.
absl::StatusOr<std::vector<PresentGpu>> FindGpus(const std::string& nvml_library,
                                                 const std::string& driver_library);

// Returns OK if this account may open the device nodes of the GPU below `folder`; otherwise
// FAILED_PRECONDITION names the nodes and what to do.
absl::Status CheckDeviceNodes(const std::string& folder, const GpuFacts& gpu);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_GPU_PROBE_H_

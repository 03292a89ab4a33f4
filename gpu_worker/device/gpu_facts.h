#ifndef KSEARCH_GPU_WORKER_DEVICE_GPU_FACTS_H_
#define KSEARCH_GPU_WORKER_DEVICE_GPU_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// Facts about a GPU that are known before anything runs on it.
struct GpuFacts {
  std::string uuid;  // "GPU-8a3f..."
  std::string name;  // "NVIDIA H200"
  int index = 0;     // in nvidia-smi's numbering
  int compute_major = 0, compute_minor = 0;
  std::string driver;
  int driver_cuda_version = 0;  // in the form of cuDriverGetVersion (13000: CUDA 13.0); 0: unknown
  std::optional<int> node_number;  // N of /dev/nvidiaN
  int64_t memory_bytes = 0;        // 0: unknown
  int multiprocessors = 0;         // 0: unknown
  int64_t l2_bytes = 0;            // 0: unknown
};

// nvcc's name for it: "sm_90a", "sm_100a"; from compute capability 9.0 on including the features
// that only this generation has.
std::string GpuArchitecture(int compute_major, int compute_minor);

// Level 2 cache of the GPUs that this project supports, by NVIDIA's data sheets; 0 for others.
int64_t KnownL2Bytes(absl::string_view gpu_name);

// Checks that a driver of this `driver_cuda_version` runs the output of a compiler that identifies
// itself as `toolkit` ("nvcc release 13.0, V13.0.88; ..."). FAILED_PRECONDITION if the driver has
// an older major version; the minor version does not matter ("minor version compatibility" in
// NVIDIA's guide "CUDA Compatibility"). OK if either is unknown.
absl::Status CheckDriverRuns(int driver_cuda_version, absl::string_view toolkit);

// Returns the GPUs that a config asks for, in its order. `wanted`: UUIDs (a unique prefix is
// sufficient), indices or "all"; an empty list means "all". `visible`: the value of
// CUDA_VISIBLE_DEVICES, in the same notation, which limits the choice as it does for CUDA programs;
// absent: no limit. NOT_FOUND, INVALID_ARGUMENT: the message names the entry and lists the existing
// GPUs.
absl::StatusOr<std::vector<GpuFacts>> SelectGpus(const std::vector<GpuFacts>& present,
                                                 const std::vector<std::string>& wanted,
                                                 const std::optional<std::string>& visible);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_GPU_FACTS_H_

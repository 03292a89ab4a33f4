#ifndef KSEARCH_GPU_WORKER_DEVICE_GPU_FACTS_H_
#define KSEARCH_GPU_WORKER_DEVICE_GPU_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// What is known of a GPU before anything runs on it.
struct GpuFacts {
  std::string uuid;  // "GPU-8a3f..."
  std::string name;  // "NVIDIA H200"
  int index = 0;     // as nvidia-smi counts
  int compute_major = 0, compute_minor = 0;
  std::string driver;
  int driver_cuda_version = 0;     // 13000: CUDA 13.0, as cuDriverGetVersion counts; 0 = not known
  std::optional<int> node_number;  // N of /dev/nvidiaN
  int64_t memory_bytes = 0;        // 0 = not known
  int multiprocessors = 0;         // 0 = not known
  int64_t l2_bytes = 0;            // 0 = not known
};

// What nvcc calls it: "sm_90a", "sm_100a"; from compute capability 9.0 on with the features that
// only this generation has.
std::string GpuArchitecture(int compute_major, int compute_minor);

// Level 2 cache of the GPUs this project is for, by NVIDIA's data sheets; 0 for others.
int64_t KnownL2Bytes(absl::string_view gpu_name);

// Whether a driver of this `driver_cuda_version` runs what a compiler builds that calls itself
// `toolkit` ("nvcc release 13.0, V13.0.88; ..."): FAILED_PRECONDITION if it is of an older major
// version; the minor one does not matter ("minor version compatibility" in NVIDIA's guide "CUDA
// Compatibility"). OK where either is not known.
absl::Status CheckDriverRuns(int driver_cuda_version, absl::string_view toolkit);

// The GPUs that a config asks for, in its order. `wanted`: UUIDs (an unmistakable beginning will
// do), indices or "all"; none is "all". `visible`: the value of CUDA_VISIBLE_DEVICES, in the same
// words, which bounds the choice as it does for CUDA programs; absent: no bound.
// NOT_FOUND, INVALID_ARGUMENT: the message names the entry and lists the GPUs there are.
absl::StatusOr<std::vector<GpuFacts>> SelectGpus(const std::vector<GpuFacts>& present,
                                                 const std::vector<std::string>& wanted,
                                                 const std::optional<std::string>& visible);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_DEVICE_GPU_FACTS_H_

#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_NVCC_STEPS_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_NVCC_STEPS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// A run of nvcc in two halves, each a shell script that ends at the first command that fails.
// Between them lie the PTX files.
struct NvccSteps {
  std::string to_ptx;
  std::string from_ptx;
};

// From what `nvcc --dryrun` prints: "#$ NAME=value" and "#$ command ..." lines; others are skipped.
// The commands that remove files are left out. INTERNAL if there is no compiler or no assembler
// among the commands: this nvcc works in another way.
absl::StatusOr<NvccSteps> ReadDryRun(absl::string_view listing);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_NVCC_STEPS_H_

#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_NVCC_STEPS_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_NVCC_STEPS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// A run of nvcc in two parts, each a shell script that stops at the first failing command. The
// first part produces the PTX files, which the second one reads.
struct NvccSteps {
  std::string to_ptx;
  std::string from_ptx;
};

// Reads the output of `nvcc --dryrun`: "#$ NAME=value" and "#$ command ..." lines; others are
// skipped. Commands that remove files are omitted. INTERNAL if there is no compiler or no assembler
// among the commands, because this nvcc then works in another way.
absl::StatusOr<NvccSteps> ReadDryRun(absl::string_view listing);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_NVCC_STEPS_H_

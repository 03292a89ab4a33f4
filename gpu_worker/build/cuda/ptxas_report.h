#ifndef KSEARCH_GPU_WORKER_BUILD_CUDA_PTXAS_REPORT_H_
#define KSEARCH_GPU_WORKER_BUILD_CUDA_PTXAS_REPORT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/result.pb.h"

namespace ksearch {

inline constexpr int kMaxKernels = 32;  // BuildReport.kernels

struct PtxasKernel {
  std::string symbol;  // as linked
  v1::KernelFacts facts;
};

struct PtxasReport {
  std::vector<PtxasKernel> kernels;  // in the order of compilation; at most kMaxKernels
  // The log without the report's lines. Messages that ptxas does not call warnings although they
  // cost speed (serialized wgmma and the like, its messages C75xx) become warnings.
  std::string other_lines;
};

// Reads the output of `nvcc -Xptxas -v`, among other text. Accepts any bytes: sources can print
// lines that look like ptxas's, so the facts are advice, not proof.
PtxasReport ReadPtxasReport(absl::string_view log);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_CUDA_PTXAS_REPORT_H_

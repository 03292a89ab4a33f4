#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_TRACES_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_TRACES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch {

// The largest file of traces that is read; lines contain logs of failures.
inline constexpr int64_t kMaxTracesBytes = 64 << 20;

// One recorded evaluation of a data set of FlashInfer-Bench.
struct FlashInferTrace {
  std::string solution;
  std::string workload_uuid;
  std::string hardware;             // as torch names it, e.g. "NVIDIA H200"
  std::string status;               // "PASSED", ...
  double latency_ms = 0;            // only if PASSED
  double reference_latency_ms = 0;  // only if PASSED
};

// The evaluations of `definition` in a file of traces. Skips broken lines, and lines that are not
// evaluations, such as those without a solution: the records only advise.
std::vector<FlashInferTrace> ParseFlashInferTraces(absl::string_view text, absl::string_view file,
                                                   absl::string_view definition);

// A summary of one solution's evaluations: "12 of 12 passed on NVIDIA H200, 41.20x its reference";
// empty if there are none.
std::string RecordOf(const std::vector<FlashInferTrace>& traces, absl::string_view solution);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_TRACES_H_

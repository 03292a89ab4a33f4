#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_SOLUTION_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_SOLUTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// The largest solution that is read, including its sources.
inline constexpr int64_t kMaxSolutionBytes = 4 << 20;

// A solution of FlashInfer-Bench as its file describes it: a published program for one definition.
struct FlashInferSolution {
  std::string name;
  std::string definition;
  std::string author;
  std::string description;
  std::string language;    // "python", "triton", "cpp", "cuda" or "tilelang"
  std::string binding;     // "tvm-ffi" or "torch"; empty if the file does not say
  std::string entry_file;  // one of `sources`
  std::string entry_symbol;
  std::vector<std::string> target_hardware;
  std::vector<std::string> dependencies;
  // Its function gets the outputs as arguments after the inputs; otherwise it returns them.
  bool destination_passing = true;
  std::vector<v1::SourceFile> sources;
};

// Reads solutions/.../NAME.json by upstream's rules; members that the format does not know are
// ignored. INVALID_ARGUMENT "<file>:<line>: spec.entry_point: what".
absl::StatusOr<FlashInferSolution> ParseFlashInferSolution(absl::string_view text,
                                                           absl::string_view file);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_SOLUTION_H_

#ifndef KSEARCH_COORDINATOR_SUITES_PROBLEM_DESCRIPTION_H_
#define KSEARCH_COORDINATOR_SUITES_PROBLEM_DESCRIPTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// One of several parameters or buffers that share one tensor.
struct PackedPart {
  std::string path;  // within its module
  std::vector<int64_t> shape;
  int64_t first = 0;  // index of its first element
};

// A tensor or number that a problem takes or returns.
struct DescribedTensor {
  std::string name;  // IsIdentifier, unique within the problem
  std::string path;  // path of a parameter or buffer within its module, e.g. "fc.weight"
  v1::DType dtype = v1::DTYPE_UNSPECIFIED;
  bool scalar = false;
  std::vector<int64_t> shape;
  v1::InputRecipe recipe;  // inputs only
  bool written = false;    // an input that the module writes to
  // The parts of a one-dimensional tensor that combines several, in order; `path` is then empty.
  std::vector<PackedPart> parts;

  // All of its elements are one number.
  bool IsConstant() const;
};

// A worker's description of a PyTorch problem (python/describe_module.py).
struct ProblemDescription {
  std::string init;  // the constructor's arguments as a Python list
  std::vector<DescribedTensor> inputs;
  std::vector<DescribedTensor> parameters;
  std::vector<DescribedTensor> buffers;
  std::vector<DescribedTensor> outputs;
  // The problem's own functions make the values (MadeRecipe), because no recipe can draw some of
  // them.
  bool made = false;
  // A shortcut that passes without doing the work, in words; empty if none was found.
  std::string degenerate;
  std::string untested;  // why no shortcut was tried; empty if some were
};

// The maximum number of inputs, parameters and buffers in total; of outputs; and of parts.
inline constexpr size_t kMaxDescribedTensors = 62;
inline constexpr size_t kMaxPackedParts = 4096;

// Parses the script's output. Untrusted code contributed to it, so the type and range of every
// value are checked. INVALID_ARGUMENT "<name>: <what>": the script's "error", or what is wrong with
// the text.
absl::StatusOr<ProblemDescription> ParseProblemDescription(absl::string_view json,
                                                           absl::string_view name);

// Fills in a definition and one workload for the described case: extents become constant axes, and
// inputs are followed by parameters and buffers.
void FreezeDescription(const ProblemDescription& problem, v1::Task* task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_PROBLEM_DESCRIPTION_H_

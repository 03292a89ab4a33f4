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
  int64_t first = 0;  // its first element
};

// A tensor or number that a problem takes or makes.
struct DescribedTensor {
  std::string name;  // IsIdentifier, unique within the problem
  std::string path;  // of a parameter or buffer within its module, e.g. "fc.weight"
  v1::DType dtype = v1::DTYPE_UNSPECIFIED;
  bool scalar = false;
  std::vector<int64_t> shape;
  v1::InputRecipe recipe;  // inputs only
  // What a tensor with one dimension is made up of, in order; `path` is empty then.
  std::vector<PackedPart> parts;
};

// What a worker found a problem in PyTorch to be (python/describe_module.py).
struct ProblemDescription {
  std::string init;  // the constructor's arguments, a list as Python writes it
  std::vector<DescribedTensor> inputs;
  std::vector<DescribedTensor> parameters;
  std::vector<DescribedTensor> buffers;
  std::vector<DescribedTensor> outputs;
  // Values are made by the problem's own functions (MadeRecipe), as no recipe draws some of them.
  bool made = false;
  // A shortcut that passes without doing the work, in words; empty: none was found.
  std::string degenerate;
  std::string untested;  // why no shortcut was tried; empty: some were
};

// The largest number of inputs, parameters and buffers in all; of outputs; and of parts.
inline constexpr size_t kMaxDescribedTensors = 62;
inline constexpr size_t kMaxPackedParts = 4096;

// Reads what the script printed. Foreign code took part in it, so every value's type and range are
// checked. INVALID_ARGUMENT "<name>: <what>": the script's "error", or what is wrong with the text.
absl::StatusOr<ProblemDescription> ParseProblemDescription(absl::string_view json,
                                                           absl::string_view name);

// A definition and one workload of the described case: extents become constant axes, inputs are
// followed by parameters and buffers.
void FreezeDescription(const ProblemDescription& problem, v1::Task* task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_PROBLEM_DESCRIPTION_H_

#ifndef KSEARCH_COORDINATOR_SUITES_PROBLEM_DESCRIPTION_H_
#define KSEARCH_COORDINATOR_SUITES_PROBLEM_DESCRIPTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// One of several parameters or buffers that lie in one tensor.
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
  v1::InputRecipe recipe;  // not of outputs
  // The others that a tensor with one dimension holds, in their order; then there is no `path`.
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
  // What passes without doing the work, in words; empty: nothing that was tried does.
  std::string degenerate;
  std::string untested;  // why that is not known; empty: it is
};

// Most inputs, parameters and buffers together, and most outputs; most parts of all tensors.
inline constexpr size_t kMaxDescribedTensors = 62;
inline constexpr size_t kMaxPackedParts = 4096;

// Reads what the script printed, which foreign code had a hand in: every value is typed and
// bounded. INVALID_ARGUMENT "<name>: <what>": its "error", or what is wrong with the text.
absl::StatusOr<ProblemDescription> ParseProblemDescription(absl::string_view json,
                                                           absl::string_view name);

// A definition and one workload of the described case: extents become constant axes, inputs are
// followed by parameters and buffers.
void FreezeDescription(const ProblemDescription& problem, v1::Task* task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_PROBLEM_DESCRIPTION_H_

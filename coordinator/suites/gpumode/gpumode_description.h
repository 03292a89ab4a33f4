#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_DESCRIPTION_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_DESCRIPTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/suites/gpumode/gpumode_problem.h"
#include "coordinator/tasks/located_json.h"
#include "proto/task.pb.h"

namespace ksearch {

// A tensor within `data` or the result.
struct GpuModeTensor {
  // IsIdentifier; the result's name if this tensor is the destination of a result
  std::string name;
  v1::DType dtype = v1::DTYPE_UNSPECIFIED;
  // in `data`: index of the result that it is the destination of; -1 for an input
  int64_t output = -1;
};

struct GpuModeNumber {
  std::string name;  // IsIdentifier
  v1::DType dtype = v1::DTYPE_UNSPECIFIED;
};

// A worker's description of a problem (python/describe_problem.py).
struct GpuModeDescription {
  std::vector<GpuModeTensor> data;
  std::vector<GpuModeNumber> numbers;
  std::vector<GpuModeTensor> outputs;
  // The problem's own check judges results by their properties; there is no tolerance.
  bool judged = false;
  double atol = 0;
  double rtol = 0;
  // The check accepts infinity and NaN where the reference has the same.
  bool same_non_finite = false;
  struct Case {
    std::vector<std::vector<int64_t>> data_shapes;  // one per element of `data`
    std::vector<v1::ScalarRecipe> numbers;          // one per element of `numbers`
    std::vector<std::vector<int64_t>> output_shapes;
    bool repeats = false;  // the tensors are the same for every seed
    // Of the function that makes `data`, where eval.py calls another than generate_input.
    std::optional<LocatedJson> arguments;
  };
  std::vector<Case> cases;  // one per case of the problem
  // The functions of a submission, in the order of their calls; {"custom_kernel"} unless eval.py
  // calls others.
  std::vector<std::string> functions;
  // The modules of the classes of objects in `data` and results, such as torch.nn.modules.linear.
  std::vector<std::string> modules;
  // What reference.py defines of the classes of objects in `data`; empty if it defines none of
  // them.
  std::string classes;
  // "inputs", "numbers", "outputs", "data", "result" and "entries" as received, for
  // python/problem_entry.py.
  LocatedJson spec;
};

// Parses the script's output. Untrusted code contributed to it, so the type and range of every
// value are checked. INVALID_ARGUMENT "<name>: <what>": the script's "error", or what is wrong with
// the text.
absl::StatusOr<GpuModeDescription> ParseGpuModeDescription(absl::string_view json,
                                                           absl::string_view name, size_t cases);

// The same for the problem's cases as upstream's evaluator reads them (upstream_arguments.h), which
// only problems have for which that makes a difference.
absl::StatusOr<GpuModeDescription> ParseUpstreamsDescription(absl::string_view json,
                                                             absl::string_view name, size_t cases);

// Gives the cases of a problem the arguments that eval.py makes of them, where it calls a function
// of its own choice with them. Both have the same cases.
void TakeArguments(const GpuModeDescription& description, GpuModeProblem* problem);

// Removes from both the cases whose tensors are the same for every seed, because a program could
// remember their answers, and appends the reason to problem->left_out.
void LeaveOutRepeating(GpuModeDescription* description, GpuModeProblem* problem);

// Fills in a definition, and one workload per case. Extents that differ between cases become axes,
// named after the argument of generate_input that they equal; the axis case_number identifies a
// workload's arguments. Tests are held out if there are benchmarks.
void FreezeGpuMode(const GpuModeDescription& description, const std::vector<GpuModeCase>& cases,
                   v1::Task* task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_DESCRIPTION_H_

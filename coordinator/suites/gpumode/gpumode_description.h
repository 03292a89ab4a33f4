#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_DESCRIPTION_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_DESCRIPTION_H_

#include <cstdint>
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
  std::string name;  // IsIdentifier; the result's name if it is the place of a result
  v1::DType dtype = v1::DTYPE_UNSPECIFIED;
  int64_t output = -1;  // of `data`: the result whose place it is; -1: it is an input
};

struct GpuModeNumber {
  std::string name;  // IsIdentifier
  v1::DType dtype = v1::DTYPE_UNSPECIFIED;
};

// What a worker found a problem to be (python/describe_problem.py).
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
    std::vector<std::vector<int64_t>> data_shapes;  // one for each of `data`
    std::vector<v1::ScalarRecipe> numbers;          // one for each of `numbers`
    std::vector<std::vector<int64_t>> output_shapes;
    bool repeats = false;  // the tensors are the same for every seed
  };
  std::vector<Case> cases;  // one for each of the problem's
  // "inputs", "numbers", "outputs", "data" and "result" as they came, for python/problem_entry.py.
  LocatedJson spec;
};

// Reads what the script printed. Foreign code took part in it, so every value's type and range are
// checked. INVALID_ARGUMENT "<name>: <what>": the script's "error", or what is wrong with the text.
absl::StatusOr<GpuModeDescription> ParseGpuModeDescription(absl::string_view json,
                                                           absl::string_view name, size_t cases);

// The same of the problem's cases as upstream's evaluator reads them (upstream_arguments.h); only
// problems for which that makes a difference have it.
absl::StatusOr<GpuModeDescription> ParseUpstreamsDescription(absl::string_view json,
                                                             absl::string_view name, size_t cases);

// Takes the cases out of both whose tensors are the same for every seed, since a program could
// remember their answers, and adds why to problem->left_out.
void LeaveOutRepeating(GpuModeDescription* description, GpuModeProblem* problem);

// A definition and one workload for each case. Extents that differ from case to case are axes,
// named after the argument of generate_input that they equal; the axis case_number tells a
// workload's arguments. Tests are held out if there are benchmarks.
void FreezeGpuMode(const GpuModeDescription& description, const std::vector<GpuModeCase>& cases,
                   v1::Task* task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_DESCRIPTION_H_

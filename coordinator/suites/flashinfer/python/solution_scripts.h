#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_SOLUTION_SCRIPTS_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_SOLUTION_SCRIPTS_H_

#include "absl/strings/string_view.h"

namespace ksearch {

// The texts of the .py files beside this header, with @NAMES@ to be filled in: _load() of each
// builds the files of a solution in C++ or CUDA as upstream does, and returns its function.
absl::string_view TorchSolutionScript();
absl::string_view TvmFfiSolutionScript();

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_PYTHON_SOLUTION_SCRIPTS_H_

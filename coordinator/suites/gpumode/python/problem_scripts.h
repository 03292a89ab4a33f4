#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_PYTHON_PROBLEM_SCRIPTS_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_PYTHON_PROBLEM_SCRIPTS_H_

#include "absl/strings/string_view.h"

namespace ksearch {

// The texts of the .py files beside this header; some have @NAMES@ to be filled in.
absl::string_view DescribeProblemScript();  // with describing.py, and up to find_series.py
absl::string_view ProblemEntryScript();     // with fresh_draws.py
absl::string_view JudgeOutputsScript();     // appended to the entry of a reference
// Appended to either of them.
absl::string_view PlacementScript();  // with problem_entries.py
// Appended to either of them, and within the next.
absl::string_view NestedValuesScript();     // with object_forms.py
absl::string_view SubmissionEntryScript();  // appended to a program (callable_program.h)

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_PYTHON_PROBLEM_SCRIPTS_H_

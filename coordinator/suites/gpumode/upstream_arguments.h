#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_UPSTREAM_ARGUMENTS_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_UPSTREAM_ARGUMENTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/suites/gpumode/gpumode_problem.h"

namespace ksearch {

// The problem's cases with the values that upstream's evaluator hands to generate_input. Its
// service writes each case as a line of text, each value as Python's str() gives it, and eval.py
// takes whole numbers out of the line, lists of these as tuples if the problem's eval.py reads
// lists, and all else as text: `False` becomes the text "False", which is true. A tuple is
// {"tuple": [...]} here. INVALID_ARGUMENT: eval.py would refuse the line, as one with a fraction.
absl::StatusOr<std::vector<GpuModeCase>> CasesAsUpstreamReads(const GpuModeProblem& problem);

// Whether two lists of the same cases have the same arguments.
bool SameArguments(const std::vector<GpuModeCase>& a, const std::vector<GpuModeCase>& b);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_UPSTREAM_ARGUMENTS_H_

#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_UPSTREAM_ARGUMENTS_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_UPSTREAM_ARGUMENTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/suites/gpumode/gpumode_problem.h"

namespace ksearch {

// Returns the problem's cases with the values that upstream's evaluator passes to generate_input.
// Upstream's service writes each case as a line of text, each value as Python's str() prints it.
// eval.py extracts whole numbers from the line, lists of these as tuples if the problem's eval.py
// reads lists, and everything else as text: `False` becomes the text "False", which is true. A
// tuple is represented as {"tuple": [...]}. INVALID_ARGUMENT: eval.py would refuse the line, for
// example because of a fraction.
absl::StatusOr<std::vector<GpuModeCase>> CasesAsUpstreamReads(const GpuModeProblem& problem);

// Returns true if two lists of the same cases have the same arguments.
bool SameArguments(const std::vector<GpuModeCase>& a, const std::vector<GpuModeCase>& b);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_UPSTREAM_ARGUMENTS_H_

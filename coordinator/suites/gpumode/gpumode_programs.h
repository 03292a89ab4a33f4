#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_PROGRAMS_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_PROGRAMS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/suites/gpumode/gpumode_description.h"
#include "coordinator/suites/gpumode/gpumode_problem.h"
#include "proto/task.pb.h"

namespace ksearch {

// The file of a candidate that is a submission.
inline constexpr char kGpuModeSubmissionFile[] = "submission.py";

// Programs around a problem's own Python, each of several files of which kernel.py is ksearch's.

// What a worker runs to describe the problem (JOB_KIND_DESCRIBE).
v1::Sources GpuModeDescribingProgram(const GpuModeProblem& problem);

// `run` over the task's inputs that calls ref_kernel, and make_inputs that calls generate_input.
v1::Sources GpuModeReference(const GpuModeProblem& problem, const GpuModeDescription& description);

// Submissions: `run` over the task's inputs calls custom_kernel of a file that lies beside it
// unchanged, with the problem's files but for its reference.
v1::ProgramForm GpuModeSubmissionForm(const GpuModeProblem& problem,
                                      const GpuModeDescription& description);

// Whether a file in Python defines custom_kernel, and no function `run`, at its top level.
bool IsGpuModeSubmission(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_PROGRAMS_H_

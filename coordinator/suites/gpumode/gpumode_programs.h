#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_PROGRAMS_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_PROGRAMS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/suites/gpumode/gpumode_description.h"
#include "coordinator/suites/gpumode/gpumode_problem.h"
#include "proto/task.pb.h"

namespace ksearch {

// The file of a candidate that contains a submission.
inline constexpr char kGpuModeSubmissionFile[] = "submission.py";

// Programs around a problem's own Python. Each consists of several files, of which kernel.py is
// ksearch's.

// The program that a worker runs to describe the problem (JOB_KIND_DESCRIBE).
v1::Sources GpuModeDescribingProgram(const GpuModeProblem& problem);

// Defines `run` over the task's inputs, which calls ref_kernel, and make_inputs, which calls
// generate_input.
v1::Sources GpuModeReference(const GpuModeProblem& problem, const GpuModeDescription& description);

// The same function for timing: called as a submission is, without copies that only a reference
// needs.
v1::Sources GpuModeBaseline(const GpuModeProblem& problem, const GpuModeDescription& description);

// The form of submissions: `run` over the task's inputs calls custom_kernel of an unchanged file
// beside it, together with the problem's files except its reference.
v1::ProgramForm GpuModeSubmissionForm(const GpuModeProblem& problem,
                                      const GpuModeDescription& description);

// The function in Python that gives the modules of the classes of objects. By name alone, a program
// could import what nobody sees it import.
std::string ModulesOfClasses(const GpuModeDescription& description);

// Returns true if a Python file defines one of the functions of a submission, and no function
// `run`, at its top level.
bool IsGpuModeSubmission(absl::string_view text, const std::vector<std::string>& functions);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_PROGRAMS_H_

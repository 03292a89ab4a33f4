#ifndef KSEARCH_COORDINATOR_SUITES_MODULE_PROGRAMS_H_
#define KSEARCH_COORDINATOR_SUITES_MODULE_PROGRAMS_H_

#include "absl/strings/string_view.h"
#include "coordinator/suites/problem_description.h"
#include "proto/task.pb.h"

namespace ksearch {

// Programs around a problem that is made of an nn.Module: a file in Python with Model, get_inputs
// and get_init_inputs.

// What a worker runs to describe the problem (JOB_KIND_DESCRIBE).
v1::Sources DescribingProgram(absl::string_view problem);

// `text`, which defines `class_name`, and after it a function `run` with the task's inputs, then
// parameters and buffers, as arguments: it makes the module once, gives it these, and calls it.
// `reference`: the module may write into its inputs, so that it gets copies.
std::string ProgramOfModule(absl::string_view text, absl::string_view class_name,
                            const ProblemDescription& problem, bool reference);

// Whether a file in Python defines this class and no function `run` at its top level.
bool IsModuleProgram(absl::string_view text, absl::string_view class_name);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_MODULE_PROGRAMS_H_

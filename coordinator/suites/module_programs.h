#ifndef KSEARCH_COORDINATOR_SUITES_MODULE_PROGRAMS_H_
#define KSEARCH_COORDINATOR_SUITES_MODULE_PROGRAMS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/suites/module_precision.h"
#include "coordinator/suites/problem_description.h"
#include "proto/task.pb.h"

namespace ksearch {

// Programs for a problem that consists of an nn.Module: a Python file with Model, get_inputs and
// get_init_inputs.

// The program that a worker runs to describe the problem (JOB_KIND_DESCRIBE).
v1::Sources DescribingProgram(absl::string_view problem, const ModulePrecision& precision);

// How a program of a problem calls its module.
struct ModuleCall {
  absl::string_view class_name;
  // The module gets copies of all tensors that it takes, since it may write to them; the program
  // has make_inputs if the problem's own functions make the values.
  bool reference = false;
  // The module gets copies of those inputs alone that it writes to, so that its time compares with
  // that of a candidate, which gets none.
  bool baseline = false;
  bool compiled = false;  // with torch.compile
};

// Returns the text that follows the definition of the class: a function `run` whose arguments are
// the task's inputs, then parameters and buffers. It constructs the module once, sets these, and
// calls it.
std::string ModuleEntry(const ModuleCall& call, const ProblemDescription& problem,
                        const ModulePrecision& precision);

// The form of programs that define ModelNew, as users of KernelBench write them.
v1::ProgramForm ModelNewForm(const ProblemDescription& problem, const ModulePrecision& precision);

// Returns a file for upstream's tools that defines ModelNew around a program with the task's own
// entry. Its constructor makes the layers of Model, whose text it contains, so that upstream's
// seeds give it the same parameters. A program that already defines ModelNew is returned unchanged.
// A CUDA or C++ program is built by torch.utils.cpp_extension on import. INVALID_ARGUMENT: the
// program has several files.
absl::StatusOr<std::string> ModelNewFile(absl::string_view problem_text,
                                         const v1::Definition& definition,
                                         const ProblemDescription& problem,
                                         const ModulePrecision& precision,
                                         const v1::Sources& program);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_MODULE_PROGRAMS_H_

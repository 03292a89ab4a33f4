#ifndef KSEARCH_COORDINATOR_SUITES_CALLABLE_PROGRAM_H_
#define KSEARCH_COORDINATOR_SUITES_CALLABLE_PROGRAM_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/task.pb.h"

namespace ksearch {

// A program with a task's own entry as the beginning of one file in Python that stands by itself:
// it defines _ksearch_program(), which returns a function of axes, inputs and outputs, each a list
// in the definition's order, that returns the outputs. The text of a program in CUDA or C++ stands
// in the file and is built by torch.utils.cpp_extension when the function is made.
// INVALID_ARGUMENT: a program of several files, or in a language that is not known.
absl::StatusOr<std::string> CallableProgram(const v1::Definition& definition,
                                            const v1::Sources& program);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_CALLABLE_PROGRAM_H_

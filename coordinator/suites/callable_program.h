#ifndef KSEARCH_COORDINATOR_SUITES_CALLABLE_PROGRAM_H_
#define KSEARCH_COORDINATOR_SUITES_CALLABLE_PROGRAM_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/task.pb.h"

namespace ksearch {

// For programs that name ksearch_workspace_bytes, maybe only in a comment: it is null if they do
// not define it.
inline constexpr char kWeakWorkspace[] =
    "extern \"C\" __attribute__((weak)) int64_t ksearch_workspace_bytes(const KsearchArgs* "
    "args);\n";

// Wraps a program that has a task's own entry into the beginning of one self-contained Python file.
// The file defines _ksearch_program(), which returns a function that takes axes, inputs and
// outputs, each as a list in the definition's order, and returns the outputs. The file contains the
// text of a CUDA or C++ program; torch.utils.cpp_extension builds it when the function is made.
// INVALID_ARGUMENT: the program has several files, or its language is unknown.
absl::StatusOr<std::string> CallableProgram(const v1::Definition& definition,
                                            const v1::Sources& program);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_CALLABLE_PROGRAM_H_

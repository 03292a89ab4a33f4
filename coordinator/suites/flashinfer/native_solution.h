#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_NATIVE_SOLUTION_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_NATIVE_SOLUTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/task.pb.h"

namespace ksearch {

// A program in C++ or CUDA as the files of a solution with the binding "torch".
struct NativeSolution {
  std::vector<v1::SourceFile> files;
  std::string entry_point;
};

// The program's files, the headers that it includes, and a file with PYBIND11_MODULE whose function
// `run` takes the definition's inputs and outputs, in this order, and calls ksearch_run.
// INVALID_ARGUMENT: the language is another one, no tensor has an axis as its extent, or a file has
// the same name as one that is added.
absl::StatusOr<NativeSolution> BindToTorch(const v1::Definition& definition,
                                           const v1::Sources& program);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_NATIVE_SOLUTION_H_

#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_PROGRAMS_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_PROGRAMS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/suites/flashinfer/flashinfer_solution.h"
#include "proto/task.pb.h"

namespace ksearch {

// The folder of a candidate in which the solution's files lie unchanged, a package of Python.
inline constexpr char kSolutionFolder[] = "ksearch_solution";

// How upstream binds the solution: "torch" or "tvm-ffi", which is also the default; empty for
// solutions in Python, Triton and TileLang.
std::string BindingOf(const FlashInferSolution& solution);

// The packages that a worker's interpreter needs for it in addition to torch, named as in toolkits
// (gpu_worker/build/python/interpreter.h): "triton", "tilelang", "tvm-ffi".
std::vector<std::string> PackagesFor(const FlashInferSolution& solution);

// The solution as a Python candidate for tasks of its definition on devices of this class: its only
// file, if that has the task's own entry; otherwise its files in kSolutionFolder, and a kernel.py
// that loads the solution, or builds it by the rules of its binding, and calls it. INVALID_ARGUMENT
// says why it can never be evaluated this way.
absl::StatusOr<v1::Sources> ProgramOfSolution(const FlashInferSolution& solution,
                                              const v1::Definition& definition,
                                              v1::DeviceClass device);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_PROGRAMS_H_

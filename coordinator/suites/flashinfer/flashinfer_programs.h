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

// How upstream binds it: "torch" or "tvm-ffi", which is also what no word means; empty for
// solutions in Python, Triton and TileLang.
std::string BindingOf(const FlashInferSolution& solution);

// Packages beside torch that the interpreter of a worker must have for it, in the words of toolkits
// (gpu_worker/build/python/interpreter.h): "triton", "tilelang", "tvm-ffi".
std::vector<std::string> PackagesFor(const FlashInferSolution& solution);

// The solution as a candidate, in Python, for tasks of its definition on such devices: its only
// file, if that has the task's own entry, else its files in kSolutionFolder beside a kernel.py that
// loads it, or has it built by the rules of its binding, and calls it. INVALID_ARGUMENT says why it
// can never be judged so.
absl::StatusOr<v1::Sources> ProgramOfSolution(const FlashInferSolution& solution,
                                              const v1::Definition& definition,
                                              v1::DeviceClass device);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_FLASHINFER_PROGRAMS_H_

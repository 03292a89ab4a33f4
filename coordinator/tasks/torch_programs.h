#ifndef KSEARCH_COORDINATOR_TASKS_TORCH_PROGRAMS_H_
#define KSEARCH_COORDINATOR_TASKS_TORCH_PROGRAMS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// The entry of reference.py that makes the inputs of workloads that request it (MadeRecipe).
inline constexpr absl::string_view kMakeInputs = "make_inputs";

// Python programs of a task that have no file of their own: they are made from reference.py as the
// task's settings say. They are part of the task like any file, so changing the setting makes
// another task.

// Applies the settings `baseline` ("torch", "torch.compile") and `reference_precision` ("float64",
// "float32") to `task`, whose definition and sources have been read: adds a Python baseline, and
// has reference.py called in that precision. INVALID_ARGUMENT "<field>: what" for unknown values,
// or if the setting needs a reference.py that does not exist.
absl::Status AddTorchPrograms(const v1::TaskSettings& settings, v1::Task* task);

// Checks workloads whose tensors make_inputs makes: reference.py must define it and be the only
// reference, and a workload must have either all of its tensors made this way or none.
// INVALID_ARGUMENT names the workload and the fix.
absl::Status CheckMadeInputs(const v1::Task& task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_TORCH_PROGRAMS_H_

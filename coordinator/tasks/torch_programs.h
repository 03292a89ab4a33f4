#ifndef KSEARCH_COORDINATOR_TASKS_TORCH_PROGRAMS_H_
#define KSEARCH_COORDINATOR_TASKS_TORCH_PROGRAMS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// The entry of reference.py that inputs come from where workloads say so (MadeRecipe).
inline constexpr absl::string_view kMakeInputs = "make_inputs";

// Programs in Python that a task has without a file of their own: made of reference.py, by words in
// the task's settings. What is made is part of the task like any file, so another word is another
// task.

// The task's settings `baseline` ("torch", "torch.compile") and `reference_precision` ("float64",
// "float32"), carried out on `task`, whose definition and sources were read: adds a baseline in
// Python, and has reference.py called in that precision. INVALID_ARGUMENT "<field>: what" for words
// that mean nothing, or that need a reference.py that is not there.
absl::Status AddTorchPrograms(const v1::TaskSettings& settings, v1::Task* task);

// Workloads whose tensors are made by make_inputs: reference.py must be the only reference, since
// it is what makes them, and define it; of a workload's tensors all must be made so, or none.
// INVALID_ARGUMENT says which workload and what to do.
absl::Status CheckMadeInputs(const v1::Task& task);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_TORCH_PROGRAMS_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_JUDGES_NAMED_INPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_JUDGES_NAMED_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// The index of the input tensor with this name among the case's tensors, or -1.
int FindInput(const WorkloadCase& workload, absl::string_view name);
// Shape and type of a tensor of the case.
const v1::TensorView& ViewOf(const WorkloadCase& workload, int tensor);
// The tensor's contents in this input variant, as bytes and as numbers.
std::vector<std::byte> BytesOf(const WorkloadCase& workload, int tensor, int64_t variant);
std::vector<double> NumbersOf(const WorkloadCase& workload, int tensor, int64_t variant);
// The first output of a call, which must consist of whole numbers.
absl::StatusOr<std::vector<int64_t>> WholeNumbersIn(const WorkloadCase& workload,
                                                    const SavedOutputs& outputs);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_JUDGES_NAMED_INPUTS_H_

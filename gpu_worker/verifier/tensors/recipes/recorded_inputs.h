#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_RECORDED_INPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_RECORDED_INPUTS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/tensors/input_generator.h"
#include "gpu_worker/verifier/tensors/recipes/shaped_input.h"
#include "proto/task.pb.h"

namespace ksearch {

// Values from the task's file or from a blob, the same in every variant. INVALID_ARGUMENT: there
// are not as many as the tensor has. FAILED_PRECONDITION: the blob is not in `blobs`, its file is
// missing, or it has another size.
absl::StatusOr<std::unique_ptr<InputGenerator>> MakeRecordedInputs(const v1::RecordedRecipe& recipe,
                                                                   const ShapedInput& input,
                                                                   const BlobPaths& blobs);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_RECORDED_INPUTS_H_

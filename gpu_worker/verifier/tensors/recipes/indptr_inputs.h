#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_INDPTR_INPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_INDPTR_INPUTS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/tensors/input_generator.h"
#include "gpu_worker/verifier/tensors/recipes/shaped_input.h"
#include "proto/task.pb.h"

namespace ksearch {

// Segment bounds of a ragged batch. INVALID_ARGUMENT: the tensor's type cannot index, an axis has
// no value, or the total cannot be cut that way.
absl::StatusOr<std::unique_ptr<InputGenerator>> MakeIndptrInputs(const v1::IndptrRecipe& recipe,
                                                                 const ShapedInput& input);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_INDPTR_INPUTS_H_

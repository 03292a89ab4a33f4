#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_PAGE_INPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_PAGE_INPUTS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/tensors/input_generator.h"
#include "gpu_worker/verifier/tensors/recipes/shaped_input.h"
#include "proto/task.pb.h"

namespace ksearch {

// Indices of distinct pages. INVALID_ARGUMENT: the tensor's type cannot index, the axis has no
// value, or there are fewer pages than elements.
absl::StatusOr<std::unique_ptr<InputGenerator>> MakePageInputs(const v1::PageIndicesRecipe& recipe,
                                                               const ShapedInput& input);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_PAGE_INPUTS_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_RANDOM_INPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_RANDOM_INPUTS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/tensors/input_generator.h"
#include "gpu_worker/verifier/tensors/recipes/shaped_input.h"
#include "proto/task.pb.h"

namespace ksearch {

// Independent random numbers: on the host, mixes of two windows into a pool (window_mix.h).
// INVALID_ARGUMENT: the recipe's integers or islands do not suit the tensor.
absl::StatusOr<std::unique_ptr<InputGenerator>> MakeRandomInputs(const v1::RandomRecipe& recipe,
                                                                 const ShapedInput& input);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RECIPES_RANDOM_INPUTS_H_

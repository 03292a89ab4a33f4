#include "gpu_worker/verifier/tensors/input_generator.h"

#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/tensors/recipes/indptr_inputs.h"
#include "gpu_worker/verifier/tensors/recipes/page_inputs.h"
#include "gpu_worker/verifier/tensors/recipes/random_inputs.h"
#include "gpu_worker/verifier/tensors/recipes/recorded_inputs.h"
#include "gpu_worker/verifier/tensors/recipes/shaped_input.h"

namespace ksearch {
namespace {

absl::StatusOr<ShapedInput> ShapeOf(const v1::Definition& definition, const v1::Workload& workload,
                                    const v1::TensorSpec& tensor, const Seed& seed) {
  ShapedInput input{definition, workload, tensor, seed};
  ASSIGN_OR_RETURN(input.shape, TensorShape(definition, workload, tensor));
  ASSIGN_OR_RETURN(input.element_bytes, ElementBytes(tensor.dtype()));
  input.elements = 1;
  for (const int64_t extent : input.shape) {
    if (__builtin_mul_overflow(input.elements, extent, &input.elements) ||
        input.elements > (int64_t{1} << 40)) {
      return absl::InvalidArgumentError("too large");
    }
  }
  return input;
}

absl::StatusOr<std::unique_ptr<InputGenerator>> Make(const v1::Definition& definition,
                                                     const v1::Workload& workload,
                                                     const v1::TensorSpec& tensor,
                                                     const v1::InputRecipe& recipe,
                                                     const Seed& seed, const BlobPaths& blobs) {
  ASSIGN_OR_RETURN(const ShapedInput input, ShapeOf(definition, workload, tensor, seed));
  switch (recipe.recipe_case()) {
    case v1::InputRecipe::kRandom:
      return MakeRandomInputs(recipe.random(), input);
    case v1::InputRecipe::kIndptr:
      return MakeIndptrInputs(recipe.indptr(), input);
    case v1::InputRecipe::kPageIndices:
      return MakePageInputs(recipe.page_indices(), input);
    case v1::InputRecipe::kRecorded:
      return MakeRecordedInputs(recipe.recorded(), input, blobs);
    case v1::InputRecipe::kSafetensors:
      return absl::InvalidArgumentError(
          absl::StrCat("the blob ", recipe.safetensors().path(), " is not on this worker"));
    case v1::InputRecipe::kMade:
      return absl::InvalidArgumentError("make_inputs of the task's reference is not there");
    case v1::InputRecipe::kScalar:
    case v1::InputRecipe::RECIPE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("a tensor needs a random, indptr or page_indices recipe");
}

}  // namespace

bool InputGenerator::Matches(int64_t variant, const std::byte* memory) const {
  std::vector<std::byte> expected(static_cast<size_t>(bytes()));
  Write(variant, expected.data());
  return std::memcmp(memory, expected.data(), expected.size()) == 0;
}

absl::StatusOr<std::unique_ptr<InputGenerator>> MakeInputGenerator(
    const v1::Definition& definition, const v1::Workload& workload, const v1::TensorSpec& tensor,
    const v1::InputRecipe& recipe, const Seed& seed, const BlobPaths& blobs) {
  absl::StatusOr<std::unique_ptr<InputGenerator>> made =
      Make(definition, workload, tensor, recipe, seed, blobs);
  if (!made.ok()) {
    return Annotate(made.status(),
                    absl::StrCat("workload ", workload.uuid(), " input '", tensor.name(), "'"));
  }
  return made;
}

}  // namespace ksearch

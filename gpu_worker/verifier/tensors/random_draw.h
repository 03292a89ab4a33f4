#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RANDOM_DRAW_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RANDOM_DRAW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu_worker/verifier/tensors/islands.h"
#include "proto/task.pb.h"

namespace ksearch {

// Everything that is needed to draw a tensor of random numbers on a device.
struct RandomDraw {
  v1::DType dtype = v1::DTYPE_UNSPECIFIED;
  uint64_t key = 0;
  int64_t row = 1;  // elements of the last axis if columns are raised
  v1::RandomRecipe recipe;
  device::Islands islands = {};
};

// The factor of a recipe's values; 1 if it names none.
double ScaleOf(const v1::RandomRecipe& recipe);

// The integers that a recipe draws from: `span` values starting at `least`. For all integer types
// except bool.
struct IntegerRange {
  int64_t least = 0;
  uint64_t span = 1;
};
IntegerRange IntegersOf(v1::DType dtype, const v1::RandomRecipe& recipe);

// INVALID_ARGUMENT: the type does not have all integers that the recipe draws from.
absl::Status CheckIntegers(v1::DType dtype, const v1::RandomRecipe& recipe);

// The recipe's islands in a tensor of so many elements. INVALID_ARGUMENT: they do not fit in.
absl::StatusOr<device::Islands> MakeIslands(v1::DType dtype, const v1::RandomRecipe& recipe,
                                            int64_t elements, uint64_t key);

// Draws `elements` elements on the host, without islands. Uses all cores for many.
std::vector<std::byte> DrawPool(const RandomDraw& draw, int64_t element_bytes, int64_t elements);

// Returns true if every element is made of one random word, and there are so many different ones
// that a program could gain by remembering what it computed for those of a pool. Normal float32 is
// not made so, and mixed otherwise.
bool MadeOfWords(const RandomDraw& draw);

// Draws random words on the host. Uses all cores for many.
std::vector<std::byte> DrawWords(uint64_t key, int64_t words);

// Makes `count` elements of so many words, without islands and raised columns, where MadeOfWords.
void ElementsOfWords(const RandomDraw& draw, const uint32_t* words, int64_t count, std::byte* out);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_RANDOM_DRAW_H_

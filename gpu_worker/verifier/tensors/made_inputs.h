#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_MADE_INPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_MADE_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/verifier/tensors/input_generator.h"

namespace ksearch {

class SavedOutputs;
class WorkloadCase;

// The arguments of a program that makes inputs, in place of the workload's own arguments
// (WorkloadCase::ForMaker): the name of the seed tensor, and the prefix of the names of axes.
inline constexpr absl::string_view kSeedArgument = "seed";
inline constexpr absl::string_view kAxisArgument = "axis:";

// All input tensors of one variant, in definition order: the outputs of the program that made them,
// in the memory where it wrote them.
using MadeVariant = SavedOutputs;

// The variants of one workload under one seed, made by a program. Thread-safe.
class MadeVariants {
 public:
  virtual ~MadeVariants() = default;
  // Zeros if the program fails; the owner of these variants is told.
  virtual std::shared_ptr<const MadeVariant> Get(int64_t variant) = 0;
  // Returns true if all variants have the same tensors.
  virtual bool repeats() const { return false; }
};

// Lets a task's program make the inputs of workloads with a MadeRecipe.
class MadeInputs {
 public:
  virtual ~MadeInputs() = default;
  // `maker` comes from WorkloadCase::ForMaker. TaskFault if the program fails or makes different
  // tensors for the same seed; other errors are the machine's.
  virtual absl::StatusOr<std::shared_ptr<MadeVariants>> Open(
      std::shared_ptr<const WorkloadCase> maker) = 0;
};

// A generator for tensor `index` of made variants.
std::unique_ptr<InputGenerator> MakeMadeGenerator(std::shared_ptr<MadeVariants> variants,
                                                  size_t index, int64_t bytes);

// A generator for one int64: a different number from 0 to 2^32 - 1 for every variant, a range that
// all random number generators accept, plus `first`. Without the key, none of them can be derived
// from another.
std::unique_ptr<InputGenerator> MakeSeedGenerator(uint64_t key, int64_t first = 0);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_MADE_INPUTS_H_

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

// What a program of a task has to be handed to make inputs, in place of a workload's own arguments
// (WorkloadCase::ForMaker): the name of the tensor of the seed, and what names of axes begin with.
inline constexpr absl::string_view kSeedArgument = "seed";
inline constexpr absl::string_view kAxisArgument = "axis:";

// All tensors of one variant, in the order of the definition's inputs: what the program that made
// them gave as its outputs, where it gave them.
using MadeVariant = SavedOutputs;

// The variants of one workload under one seed, made by a program. Thread-safe.
class MadeVariants {
 public:
  virtual ~MadeVariants() = default;
  // Zeros where the program fails; the owner of these variants knows of it then.
  virtual std::shared_ptr<const MadeVariant> Get(int64_t variant) = 0;
};

// Has a task's program make the inputs of workloads that say so (MadeRecipe).
class MadeInputs {
 public:
  virtual ~MadeInputs() = default;
  // `maker` is of WorkloadCase::ForMaker. TaskFault if the program fails, if it gives other tensors
  // for the same seed, or the same for another seed; other errors are the machine's.
  virtual absl::StatusOr<std::shared_ptr<MadeVariants>> Open(
      std::shared_ptr<const WorkloadCase> maker) = 0;
};

// Tensor `index` of made variants.
std::unique_ptr<InputGenerator> MakeMadeGenerator(std::shared_ptr<MadeVariants> variants,
                                                  size_t index, int64_t bytes);

// One int64: another number from 0 to 2^32 - 1 for every variant, so that every generator of random
// numbers takes it. None follows from another without the key.
std::unique_ptr<InputGenerator> MakeSeedGenerator(uint64_t key);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_MADE_INPUTS_H_

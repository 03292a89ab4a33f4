#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_INPUT_GENERATOR_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_INPUT_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/tensors/random_draw.h"
#include "gpu_worker/verifier/tensors/seed.h"
#include "proto/task.pb.h"

namespace ksearch {

class SavedOutputs;

// Makes one input tensor of a workload, in any number of different variants. Variant c is a pure
// function of (seed, workload, input, c).
//
// For timing, every call must get values that no earlier call had, because a candidate could
// otherwise remember its answers. But drawing millions of normal variates before each call would
// cost a CPU more than the call. So, on the host, random tensors are mixes of two windows into a
// pool that is drawn once (window_mix.h): float32 elements are weighted sums, and other types and
// Student's t choose one window per element, so that every distribution remains that of the recipe.
// Segment bounds are drawn anew for each variant, and page indices get a different start and count.
// Without the key, a variant's number reveals nothing about it. A device draws every variant
// separately, unless a judge reads them on the host (WorkloadCase::DrawnOnDevice). Thread-safe.
class InputGenerator {
 public:
  virtual ~InputGenerator() = default;
  virtual int64_t bytes() const = 0;
  // Null unless the tensor's elements are independent random numbers.
  virtual const RandomDraw* random() const { return nullptr; }
  // The memory for drawing variants on the host. For random tensors, it is allocated and the pool
  // is drawn when a variant is first needed.
  virtual int64_t pool_bytes() const = 0;
  // Returns true if a program makes the tensor (made_inputs.h).
  virtual bool made() const { return false; }
  // Returns true if all variants are the same.
  virtual bool repeats() const { return false; }
  // Prepares what Write or Matches of this variant needs, which may use the device. For callers
  // whose own work on the device must not be disturbed while they write or compare.
  virtual void Make(int64_t /*variant*/) const {}
  virtual void Write(int64_t variant, std::byte* out) const = 0;
  // A variant of a tensor that a program made on the device. It is at `address` as long as
  // `variant` exists; 0: it is not on the device.
  struct OnDevice {
    std::shared_ptr<const SavedOutputs> variant;
    uint64_t address = 0;
  };
  virtual OnDevice MadeOnDevice(int64_t /*variant*/) const { return {}; }
  // Returns true if the `bytes()` bytes at `memory` still equal variant `variant`. By default it
  // writes the variant elsewhere.
  virtual bool Matches(int64_t variant, const std::byte* memory) const;
};

// Files with the blobs of recorded inputs, by their names (v1::VerifierRequest.blobs).
using BlobPaths = std::map<std::string, std::string>;

// `elements` is the tensor's size under the workload. INVALID_ARGUMENT names the input and the
// unsupported part of its recipe. FAILED_PRECONDITION: its blob is not in `blobs`, or the file is
// missing. Uses all cores for large tensors.
absl::StatusOr<std::unique_ptr<InputGenerator>> MakeInputGenerator(
    const v1::Definition& definition, const v1::Workload& workload, const v1::TensorSpec& tensor,
    const v1::InputRecipe& recipe, const Seed& seed, const BlobPaths& blobs = {});

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_INPUT_GENERATOR_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_INPUT_GENERATOR_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_INPUT_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/verifier/tensors/islands.h"
#include "proto/task.pb.h"

namespace ksearch {

class SavedOutputs;

// The secret all inputs follow from; never leaves the verifier.
struct Seed {
  uint64_t high = 0;
  uint64_t low = 0;
  static Seed Fresh();  // from the kernel
};

// A 64-bit key for one purpose, from which the seed cannot be found.
uint64_t DeriveKey(const Seed& seed, absl::string_view workload_uuid, absl::string_view input,
                   absl::string_view purpose);

// What it takes to draw a tensor of random numbers elsewhere than on the host.
struct RandomDraw {
  v1::DType dtype = v1::DTYPE_UNSPECIFIED;
  uint64_t key = 0;
  int64_t row = 1;  // elements of the last axis if columns are raised
  v1::RandomRecipe recipe;
  device::Islands islands = {};
};

// The integers that a recipe draws: `span` from `least` on. For the integer types but bool.
struct IntegerRange {
  int64_t least = 0;
  uint64_t span = 1;
};
IntegerRange IntegersOf(v1::DType dtype, const v1::RandomRecipe& recipe);

// Makes one input tensor of a workload, in as many different variants as one likes. Variant c is a
// pure function of (seed, workload, input, c).
//
// Timing wants every call to see values that no call saw before, else a candidate could remember
// its answers; drawing millions of normal variates before each call would cost a CPU more than the
// call. Hence, on the host, random tensors are mixes of two windows into a pool drawn once
// (window_mix.h): float32 is weighed, other types and Student's t select element by element, so
// that every distribution stays what the recipe says. Segment bounds are drawn again, page indices
// take another beginning and another count from variant to variant. Nothing about a variant follows
// from its number without the key. A device draws every variant separately, unless a judge reads
// them on the host (WorkloadCase::DrawnOnDevice). Thread-safe.
class InputGenerator {
 public:
  virtual ~InputGenerator() = default;
  virtual int64_t bytes() const = 0;
  // Null unless the tensor's elements are independent random numbers.
  virtual const RandomDraw* random() const { return nullptr; }
  // Memory for drawing variants on the host. That of random tensors is taken, and the pool drawn,
  // when one is first needed.
  virtual int64_t pool_bytes() const = 0;
  // Whether every variant is the same.
  virtual bool repeats() const { return false; }
  // What a Write or Matches of this variant needs and that may use the device: for callers whose
  // own work on the device must not be disturbed while they write or compare.
  virtual void Make(int64_t /*variant*/) const {}
  virtual void Write(int64_t variant, std::byte* out) const = 0;
  // A variant of a tensor that a program made on the device, at `address` as long as `variant`
  // lives; 0: it is not there.
  struct OnDevice {
    std::shared_ptr<const SavedOutputs> variant;
    uint64_t address = 0;
  };
  virtual OnDevice MadeOnDevice(int64_t /*variant*/) const { return {}; }
  // Whether `bytes()` bytes at `memory` still are variant `variant`.
  virtual bool Matches(int64_t variant, const std::byte* memory) const = 0;
};

// Files with the blobs of recorded inputs, by their names (v1::VerifierRequest.blobs).
using BlobPaths = std::map<std::string, std::string>;

// `elements` is the tensor's size under the workload. INVALID_ARGUMENT names the input and what
// about its recipe cannot be done; FAILED_PRECONDITION: its blob is not among `blobs`, or not
// there. Uses every core for large tensors.
absl::StatusOr<std::unique_ptr<InputGenerator>> MakeInputGenerator(
    const v1::Definition& definition, const v1::Workload& workload, const v1::TensorSpec& tensor,
    const v1::InputRecipe& recipe, const Seed& seed, const BlobPaths& blobs = {});

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_INPUT_GENERATOR_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_TABLES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_TABLES_H_

#include <cstdint>

#include "gpu_worker/verifier/cuda/device_math.h"
#include "gpu_worker/verifier/tensors/islands.h"

// The tables through which the host and the trusted kernels communicate. Plain C++17: nvcc reads it
// too. Addresses are device addresses.

namespace ksearch {
namespace device {

inline constexpr int kMaxCalls = 192;   // a batch; also the most sets of one BufferSets
inline constexpr int kMaxOutputs = 32;  // of one task
inline constexpr uint64_t kNothing = ~uint64_t{0};
inline constexpr int kThreads = 256;
// How many bytes of each output the fingerprint covers.
inline constexpr int64_t kFingerprintBytes = 512;

// One tensor of one set: [address, address + bytes) inside [mapping, mapping + mapping_bytes), the
// rest of which is guard band. Mappings and private copies start at multiples of 256.
struct TensorRow {
  uint64_t mapping;
  int64_t mapping_bytes;
  uint64_t address;
  int64_t bytes;
  uint64_t copy;  // of an output: where its private copy goes
};

// How the elements of one input are drawn; see v1::RandomRecipe.
struct DrawRow {
  int32_t drawn;  // 0: the host writes this input
  Kind kind;
  uint64_t key;
  int64_t elements;
  int32_t tails;  // 0: normal, 1: Cauchy, 2: Student's t with 2 degrees of freedom, 3: uniform
  float scale;
  float offset;
  float raise;
  uint64_t true_from;
  int64_t least;  // integers: one of `span` values, starting at `least`
  uint64_t span;
  int64_t row;
  int64_t raise_first;
  int64_t raise_count;
  Islands islands;
};

struct CallList {
  int32_t count;
  int32_t set[kMaxCalls];
  int64_t variant[kMaxCalls];
};

// Where the tensors are: the rows of set s begin at tensors + s * (inputs + outputs).
struct Tables {
  const TensorRow* tensors;
  const DrawRow* draws;
  int32_t inputs;
  int32_t outputs;
};

// The poison of each output.
struct PoisonList {
  uint64_t word[kMaxOutputs];
  int32_t element_bytes[kMaxOutputs];
  int32_t whole[kMaxOutputs];  // counts as unwritten only if all of it is still poison
};

// Findings of one call, in this order: for each tensor the first changed byte of its guard bands,
// from the mapping's start; for each output the first poisoned element, or, for a `whole` one, the
// first 8 bytes that are not poison; the fingerprint. kNothing means none.
KSEARCH_BOTH int64_t FindingsOfACall(int inputs, int outputs) { return inputs + 2 * outputs + 1; }

// The part of a TensorComparison that one block computed.
struct PartialComparison {
  double max_abs;
  double max_rel;
  double error_squares;
  double oracle_squares;
  int64_t wrong;
  int64_t first_wrong;  // INT64_MAX if none
  double first_got;
  double first_expected;
  int64_t non_finite;
  int64_t wrong_non_finite;
  int64_t wrong_by_suite;
};

}  // namespace device
}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_CUDA_DEVICE_TABLES_H_

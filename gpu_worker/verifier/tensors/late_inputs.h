#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_LATE_INPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_LATE_INPUTS_H_

#include <cstdint>
#include <vector>

#include "common/rng.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// A part of one call's inputs that is delivered late. Until then, other numbers of the same kind
// are in its place, which cannot be detected. A program that works on that call before the delivery
// gets a wrong answer.
class LateInputs {
 public:
  virtual ~LateInputs() = default;
  // Writes the part to its place; it is visible to all when this returns. Call it once.
  virtual void Deliver() = 0;
};

// Some bytes of one input, and the bytes of the same input that replace them until delivery.
struct LatePart {
  size_t tensor = 0;  // < WorkloadCase::inputs()
  int64_t at = 0;
  int64_t stand_in = 0;  // does not overlap
  int64_t bytes = 0;
};

// Chooses a run of elements at a random place, in some of the inputs that hold random
// floating-point numbers. Empty if no such input has at least two elements.
std::vector<LatePart> DrawLateParts(const WorkloadCase& workload, Rng* rng);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_LATE_INPUTS_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_LATE_INPUTS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_LATE_INPUTS_H_

#include <cstdint>
#include <vector>

#include "common/rng.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// A part of the inputs of one call that is still missing: other numbers of the same kind stand in
// its place, undetectably. A program that works for that call before the part is delivered gets
// a wrong answer.
class LateInputs {
 public:
  virtual ~LateInputs() = default;
  // Puts the part in its place, for all to see when this returns. Once.
  virtual void Deliver() = 0;
};

// Some bytes of one input, and others of the same input that stand there meanwhile.
struct LatePart {
  size_t tensor = 0;  // < WorkloadCase::inputs()
  int64_t at = 0;
  int64_t stand_in = 0;  // does not overlap
  int64_t bytes = 0;
};

// A run of elements, at random places, of some of the inputs that hold random floating-point
// numbers. Empty if there is no such input of at least two elements.
std::vector<LatePart> DrawLateParts(const WorkloadCase& workload, Rng* rng);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_LATE_INPUTS_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_OUTPUT_JUDGE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_OUTPUT_JUDGE_H_

#include <cstdint>

#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/compare.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// Judges outputs for tasks in which several answers may be right (Tolerance.judged_by_program,
// judged_by_suite_rule).
class OutputJudge {
 public:
  virtual ~OutputJudge() = default;
  // `outputs`: the outputs of a call on this variant, copied to memory that no runner sees.
  // `expected`: the reference's answer, which need not be the only right one. If the judge fails on
  // the outputs and not on that answer, they are wrong. If the judge itself fails, the outputs
  // count as right, and its owner is told.
  virtual OutputComparison Judge(const WorkloadCase& workload, int64_t variant,
                                 const SavedOutputs& outputs, const SavedOutputs& expected) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_OUTPUT_JUDGE_H_

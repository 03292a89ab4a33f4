#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_OUTPUT_JUDGE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_OUTPUT_JUDGE_H_

#include <cstdint>

#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/compare.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// Judges outputs of which several may be right (Tolerance.judged_by_program, judged_by_suite_rule).
class OutputJudge {
 public:
  virtual ~OutputJudge() = default;
  // `outputs`: of a call of the workload on this variant, copied to where no runner sees them;
  // `expected`: what the reference answers to it, which need not be the only right answer. Right
  // where the judge itself fails; its owner knows of that then.
  virtual OutputComparison Judge(const WorkloadCase& workload, int64_t variant,
                                 const SavedOutputs& outputs, const SavedOutputs& expected) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_OUTPUT_JUDGE_H_

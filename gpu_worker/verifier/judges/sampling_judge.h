#ifndef KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SAMPLING_JUDGE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SAMPLING_JUDGE_H_

#include <cstdint>

#include "gpu_worker/verifier/tensors/output_judge.h"

namespace ksearch {

// SuiteRule::SAMPLES for one call: every token must be one that may be drawn. The distribution of
// tokens can be judged only over many calls (sampling_check.h).
class SamplingJudge final : public OutputJudge {
 public:
  OutputComparison Judge(const WorkloadCase& workload, int64_t variant, const SavedOutputs& outputs,
                         const SavedOutputs& expected) override;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SAMPLING_JUDGE_H_

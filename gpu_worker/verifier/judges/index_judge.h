#ifndef KSEARCH_GPU_WORKER_VERIFIER_JUDGES_INDEX_JUDGE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_JUDGES_INDEX_JUDGE_H_

#include <cstdint>

#include "gpu_worker/verifier/tensors/output_judge.h"

namespace ksearch {

// SuiteRule::INDEX_SCORES (index_scores.h), on inputs that the rule finds by their names.
class IndexJudge final : public OutputJudge {
 public:
  OutputComparison Judge(const WorkloadCase& workload, int64_t variant, const SavedOutputs& outputs,
                         const SavedOutputs& expected) override;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_JUDGES_INDEX_JUDGE_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SUITE_JUDGES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SUITE_JUDGES_H_

#include <memory>

#include "gpu_worker/verifier/tensors/output_judge.h"
#include "proto/task.pb.h"

namespace ksearch {

// The judge for a suite's rule that depends on a call's inputs (Tolerance.judged_by_suite_rule);
// null for other rules.
std::shared_ptr<OutputJudge> MakeSuiteJudge(const v1::SuiteRule& rule);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SUITE_JUDGES_H_

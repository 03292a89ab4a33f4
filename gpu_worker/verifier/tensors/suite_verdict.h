#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SUITE_VERDICT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SUITE_VERDICT_H_

#include <string>
#include <vector>

#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/suite_rules.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "proto/result.pb.h"

namespace ksearch {

// The rule for elements of an output of this type; kNone if the task has no rule that judges single
// elements.
device::ElementRule ElementRuleOf(const v1::SuiteRule& rule, v1::DType dtype);

// The number of input variants that the task's rule checks; 0 if the task has no rule.
int SuiteTrials(const WorkloadCase& workload);

// Why a call's outputs are wrong by the rule of the task's suite; empty if they are right.
// `comparisons`: one per output, in definition order.
std::string FaultBySuite(const WorkloadCase& workload,
                         const std::vector<TensorComparison>& comparisons);

// Counts a trial; `fault` is empty if it passed.
void AddTrial(const std::string& fault, v1::SuiteVerdict* verdict);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SUITE_VERDICT_H_

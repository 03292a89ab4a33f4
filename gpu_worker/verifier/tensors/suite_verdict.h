#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SUITE_VERDICT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SUITE_VERDICT_H_

#include <string>
#include <vector>

#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/suite_rules.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "proto/result.pb.h"

namespace ksearch {

// What elements of an output of this type are judged by; kNone where the task has no rule that
// judges elements.
device::ElementRule ElementRuleOf(const v1::SuiteRule& rule, v1::DType dtype);

// How many input variants the task's rule looks at; 0: the task has none.
int SuiteTrials(const WorkloadCase& workload);

// Why a call's outputs are wrong by the rule of the task's suite; empty: they are right.
// `comparisons`: one per output, in definition order.
std::string FaultBySuite(const WorkloadCase& workload,
                         const std::vector<TensorComparison>& comparisons);

// Counts a trial; `fault` is empty if it passed.
void AddTrial(const std::string& fault, v1::SuiteVerdict* verdict);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_SUITE_VERDICT_H_

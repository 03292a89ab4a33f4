#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_SAMPLING_EVALUATOR_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_SAMPLING_EVALUATOR_H_

#include <string>

#include "absl/status/status.h"
#include "proto/task.pb.h"

namespace ksearch {

// Upstream's evaluator "sampling", for op_type sampling (v1::SuiteRule::SAMPLES). The definition's
// name says which limits apply. Probabilities that a workload draws at random are a softmax of
// normally distributed numbers.
bool IsSampling(const v1::Definition& definition);
absl::Status PoseSampling(v1::Task* task, std::string* reference);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_SAMPLING_EVALUATOR_H_

#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_SPARSE_ATTENTION_EVALUATOR_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_SPARSE_ATTENTION_EVALUATOR_H_

#include <string>

#include "absl/status/status.h"
#include "proto/task.pb.h"

namespace ksearch {

// Upstream's evaluator dsa_sparse_attention, for two definitions that it knows by name. It compares
// element by element, accepts solutions that return only the first of the two outputs, and fails
// every solution if the reference has another number of outputs. Tasks need both outputs.
bool IsSparseAttention(const v1::Definition& definition);
absl::Status PoseSparseAttention(v1::Task* task, std::string* reference);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_SPARSE_ATTENTION_EVALUATOR_H_

#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_EVALUATOR_TABLE_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_EVALUATOR_TABLE_H_

#include <string>

#include "absl/status/status.h"
#include "proto/task.pb.h"

namespace ksearch {

// Upstream judges most definitions element by element, and some by evaluators of their own, which
// it chooses by name or op_type. One pair of files and one row of the table for each.
struct FlashInferEvaluator {
  bool (*applies)(const v1::Definition& definition);
  // Sets the rules of a task that already has its definition and workloads. May change how inputs
  // are drawn, and then appends the code for that to the reference, in Python. An error says why
  // tasks of this kind cannot be used.
  absl::Status (*pose)(v1::Task* task, std::string* reference);
  // Whether upstream takes solutions that return their first output alone.
  bool takes_first_output_alone = false;
};

// The one that upstream uses for the definition.
const FlashInferEvaluator& EvaluatorOf(const v1::Definition& definition);

// Applies the evaluator that upstream uses for the task's definition.
absl::Status PoseByEvaluator(v1::Task* task, std::string* reference);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_EVALUATOR_TABLE_H_

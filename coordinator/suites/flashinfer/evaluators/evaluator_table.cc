#include "coordinator/suites/flashinfer/evaluators/evaluator_table.h"

#include "coordinator/suites/flashinfer/evaluators/element_evaluators.h"
#include "coordinator/suites/flashinfer/evaluators/sampling_evaluator.h"
#include "coordinator/suites/flashinfer/evaluators/sparse_attention_evaluator.h"
#include "coordinator/suites/flashinfer/evaluators/topk_indexer_evaluator.h"

namespace ksearch {
namespace {

// The first that applies; the last always does.
constexpr FlashInferEvaluator kEvaluators[] = {
    {IsSampling, PoseSampling},
    {IsTopkIndexer, PoseTopkIndexer},
    {IsSparseAttention, PoseSparseAttention},
    {IsMixtureOfExperts, PoseMixtureOfExperts},
    {IsAnyDefinition, PoseByElements},
};

}  // namespace

absl::Status PoseByEvaluator(v1::Task* task, std::string* reference) {
  for (const FlashInferEvaluator& evaluator : kEvaluators) {
    if (evaluator.applies(task->definition())) return evaluator.pose(task, reference);
  }
  return absl::OkStatus();
}

}  // namespace ksearch

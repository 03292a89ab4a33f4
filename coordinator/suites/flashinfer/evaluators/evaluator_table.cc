#include "coordinator/suites/flashinfer/evaluators/evaluator_table.h"

#include <algorithm>
#include <iterator>

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
    {IsSparseAttention, PoseSparseAttention, /*takes_first_output_alone=*/true},
    {IsMixtureOfExperts, PoseMixtureOfExperts},
    {IsAnyDefinition, PoseByElements},
};

}  // namespace

const FlashInferEvaluator& EvaluatorOf(const v1::Definition& definition) {
  return *std::find_if(
      std::begin(kEvaluators), std::end(kEvaluators),
      [&](const FlashInferEvaluator& evaluator) { return evaluator.applies(definition); });
}

absl::Status PoseByEvaluator(v1::Task* task, std::string* reference) {
  return EvaluatorOf(task->definition()).pose(task, reference);
}

}  // namespace ksearch

#include "coordinator/suites/flashinfer/evaluators/topk_indexer_evaluator.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/suites/flashinfer/evaluators/element_evaluators.h"
#include "coordinator/suites/flashinfer/evaluators/made_tensors.h"
#include "coordinator/suites/flashinfer/python/input_scripts.h"

namespace ksearch {
namespace {

// The tensors that upstream looks up by name, with their numbers of dimensions.
struct Needed {
  const char* name;
  int dimensions;
};
constexpr char kKeys[] = "k_index_cache_fp8";
constexpr Needed kNeeded[] = {
    {"q_index_fp8", 3}, {kKeys, 4}, {"weights", 2}, {"seq_lens", 1}, {"block_table", 2}};

}  // namespace

bool IsTopkIndexer(const v1::Definition& definition) {
  return absl::StartsWith(definition.name(), "dsa_topk_indexer");
}

absl::Status PoseTopkIndexer(v1::Task* task, std::string* reference) {
  const v1::Definition& definition = task->definition();
  for (const Needed& needed : kNeeded) {
    const auto found =
        std::find_if(definition.inputs().begin(), definition.inputs().end(),
                     [&](const v1::TensorSpec& input) { return input.name() == needed.name; });
    if (found == definition.inputs().end() || found->shape_size() != needed.dimensions) {
      return absl::InvalidArgumentError(absl::StrCat(
          "upstream judges dsa_topk_indexer by the scores of places, and the definition "
          "has no input '",
          needed.name, "' of ", needed.dimensions, " dimensions"));
    }
  }
  if (definition.outputs_size() != 1 || definition.outputs(0).shape_size() != 2) {
    return absl::InvalidArgumentError(
        "upstream judges dsa_topk_indexer by the scores of places, and the definition has another "
        "output than one row of places for each query");
  }
  v1::SuiteRule* const rule = task->mutable_suite_rule();
  rule->set_rule(v1::SuiteRule::INDEX_SCORES);
  rule->set_atol(kFlashInferTolerance);
  rule->set_rtol(kFlashInferTolerance);
  rule->set_trials(kFlashInferTrials);
  task->mutable_tolerance()->set_judged_by_suite_rule(true);
  for (const v1::TensorSpec& input : definition.inputs()) {
    task->mutable_hidden()->add_keep(input.name());
  }
  MakeTensor(kKeys, MakePackedKeysScript(), task, reference);
  return absl::OkStatus();
}

}  // namespace ksearch

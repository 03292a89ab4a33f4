#include "coordinator/suites/flashinfer/evaluators/sampling_evaluator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "coordinator/suites/flashinfer/evaluators/element_evaluators.h"
#include "coordinator/suites/flashinfer/evaluators/made_tensors.h"
#include "coordinator/suites/flashinfer/python/input_scripts.h"

namespace ksearch {
namespace {

constexpr char kProbabilities[] = "probs";
constexpr char kTopK[] = "top_k";
constexpr char kTopP[] = "top_p";
// flashinfer-bench 0.1.2, bench/evaluators/sampling.py.
constexpr double kMargin = 5e-2;
constexpr int64_t kTokens = 500'000;
constexpr double kMostDistance = 0.2;

bool HasInput(const v1::Definition& definition, absl::string_view name) {
  return std::any_of(definition.inputs().begin(), definition.inputs().end(),
                     [&](const v1::TensorSpec& input) { return input.name() == name; });
}

absl::Status Lacks(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("upstream judges op_type sampling by the tokens drawn from '", kProbabilities,
                   "', and the definition has ", what));
}

}  // namespace

bool IsSampling(const v1::Definition& definition) { return definition.op_type() == "sampling"; }

absl::Status PoseSampling(v1::Task* task, std::string* reference) {
  const v1::Definition& definition = task->definition();
  const auto probabilities =
      std::find_if(definition.inputs().begin(), definition.inputs().end(),
                   [](const v1::TensorSpec& input) { return input.name() == kProbabilities; });
  if (probabilities == definition.inputs().end()) return Lacks("no such input");
  if (probabilities->shape_size() != 2) return Lacks("it not as rows");
  if (definition.outputs_size() != 1 || definition.outputs(0).shape_size() != 1 ||
      definition.outputs(0).shape(0) != probabilities->shape(0)) {
    return Lacks("another output than one token for each row");
  }
  const std::string name = absl::AsciiStrToLower(definition.name());
  v1::SuiteRule* const rule = task->mutable_suite_rule();
  rule->set_rule(v1::SuiteRule::SAMPLES);
  rule->set_trials(kFlashInferTrials);
  v1::SuiteRule::Sampling* const sampling = rule->mutable_sampling();
  sampling->set_by_top_k(absl::StrContains(name, kTopK));
  sampling->set_by_top_p(absl::StrContains(name, "top_k_top_p") ||
                         (!sampling->by_top_k() && absl::StrContains(name, kTopP)));
  for (const auto& [counts, input] :
       {std::pair(sampling->by_top_k(), kTopK), std::pair(sampling->by_top_p(), kTopP)}) {
    if (counts && !HasInput(definition, input)) {
      return Lacks(absl::StrCat("no input '", input, "', which its name speaks of"));
    }
  }
  sampling->set_margin(kMargin);
  sampling->set_tokens(kTokens);
  sampling->set_most_distance(kMostDistance);
  task->mutable_tolerance()->set_judged_by_suite_rule(true);
  // Other values would not be probabilities.
  for (const v1::TensorSpec& input : definition.inputs()) {
    task->mutable_hidden()->add_keep(input.name());
  }
  // Upstream's rule refuses the token with which the sum exceeds top_p, and samplers draw it: that
  // is a fault only in rows that are almost certain.
  const char* const certain_share = sampling->by_top_p() ? "0" : "0.25";
  MakeTensor(kProbabilities,
             absl::StrReplaceAll(MakeProbabilitiesScript(), {{"@CERTAIN_SHARE@", certain_share}}),
             task, reference);
  return absl::OkStatus();
}

}  // namespace ksearch

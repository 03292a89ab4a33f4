#include "coordinator/suites/flashinfer/evaluators/element_evaluators.h"

#include "absl/strings/match.h"

namespace ksearch {
namespace {

constexpr double kMatchedRatioOfMoe = 0.95;

}  // namespace

bool IsAnyDefinition(const v1::Definition& /*definition*/) { return true; }

absl::Status PoseByElements(v1::Task* task, std::string* /*reference*/) {
  task->mutable_tolerance()->set_atol(kFlashInferTolerance);
  task->mutable_tolerance()->set_rtol(kFlashInferTolerance);
  v1::SuiteRule* const rule = task->mutable_suite_rule();
  rule->set_rule(v1::SuiteRule::FINITE_AND_MATCHED);
  rule->set_atol(kFlashInferTolerance);
  rule->set_rtol(kFlashInferTolerance);
  rule->set_trials(kFlashInferTrials);
  return absl::OkStatus();
}

bool IsMixtureOfExperts(const v1::Definition& definition) {
  return definition.op_type() == "moe" ||
         absl::StrContains(definition.name(), "moe_fp8_block_scale");
}

absl::Status PoseMixtureOfExperts(v1::Task* task, std::string* reference) {
  task->mutable_tolerance()->set_required_matched_ratio(kMatchedRatioOfMoe);
  task->mutable_suite_rule()->set_required_matched_ratio(kMatchedRatioOfMoe);
  return PoseByElements(task, reference);
}

}  // namespace ksearch

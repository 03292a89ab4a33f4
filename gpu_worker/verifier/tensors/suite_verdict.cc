#include "gpu_worker/verifier/tensors/suite_verdict.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ksearch {
namespace {

constexpr int kMostTrials = 16;

device::Arithmetic ArithmeticOf(v1::DType dtype) {
  switch (dtype) {
    case v1::DTYPE_FLOAT16:
      return device::Arithmetic::kFloat16;
    case v1::DTYPE_BFLOAT16:
      return device::Arithmetic::kBfloat16;
    default:
      return device::Arithmetic::kFloat32;
  }
}

device::Rule RuleOf(v1::SuiteRule::Rule rule) {
  switch (rule) {
    case v1::SuiteRule::FINITE_AND_MATCHED:
      return device::Rule::kFiniteAndMatched;
    case v1::SuiteRule::TORCH_ALLCLOSE:
      return device::Rule::kTorchAllclose;
    case v1::SuiteRule::SAME_NON_FINITE:
      return device::Rule::kSameNonFinite;
    default:
      return device::Rule::kNone;
  }
}

}  // namespace

device::ElementRule ElementRuleOf(const v1::SuiteRule& rule, v1::DType dtype) {
  return {RuleOf(rule.rule()), ArithmeticOf(dtype), static_cast<float>(rule.atol()),
          static_cast<float>(rule.rtol())};
}

int SuiteTrials(const WorkloadCase& workload) {
  const v1::SuiteRule& rule = workload.suite_rule();
  if (rule.rule() == v1::SuiteRule::RULE_UNSPECIFIED) return 0;
  return std::clamp(rule.trials(), 1, kMostTrials);
}

std::string FaultBySuite(const WorkloadCase& workload,
                         const std::vector<TensorComparison>& comparisons) {
  const v1::SuiteRule& rule = workload.suite_rule();
  const bool by_share = rule.rule() == v1::SuiteRule::FINITE_AND_MATCHED;
  const double required =
      by_share && rule.required_matched_ratio() > 0 ? rule.required_matched_ratio() : 1.0;
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const TensorArgument& tensor = workload.tensors()[static_cast<size_t>(workload.inputs()) + i];
    const TensorComparison& compared = comparisons[i];
    if (by_share && compared.non_finite > 0) {
      return absl::StrFormat("output '%s': %d of %d elements are infinite or NaN", tensor.name,
                             compared.non_finite, tensor.elements);
    }
    const double matched = tensor.elements == 0
                               ? 1.0
                               : 1.0 - static_cast<double>(compared.wrong_by_suite) /
                                           static_cast<double>(tensor.elements);
    if (matched >= required) continue;
    return absl::StrFormat("output '%s': %d of %d elements wrong (atol %g, rtol %g)", tensor.name,
                           compared.wrong_by_suite, tensor.elements, rule.atol(), rule.rtol());
  }
  return "";
}

void AddTrial(const std::string& fault, v1::SuiteVerdict* verdict) {
  verdict->set_trials(verdict->trials() + 1);
  if (fault.empty()) {
    verdict->set_passed(verdict->passed() + 1);
  } else if (verdict->message().empty()) {
    verdict->set_message(fault);
  }
}

}  // namespace ksearch

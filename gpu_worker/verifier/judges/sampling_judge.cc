#include "gpu_worker/verifier/judges/sampling_judge.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gpu_worker/verifier/judges/named_inputs.h"
#include "gpu_worker/verifier/judges/sampling_inputs.h"
#include "gpu_worker/verifier/judges/sampling_rule.h"

namespace ksearch {

OutputComparison SamplingJudge::Judge(const WorkloadCase& workload, int64_t variant,
                                      const SavedOutputs& outputs,
                                      const SavedOutputs& /*expected*/) {
  OutputComparison verdict;
  const auto inputs = SamplingInputs::Read(workload, variant);
  const auto tokens = WholeNumbersIn(workload, outputs);
  if (!inputs.ok() || !tokens.ok()) {
    verdict.right = false;
    verdict.message = std::string((inputs.ok() ? tokens.status() : inputs.status()).message());
    return verdict;
  }
  int64_t wrong = 0;
  for (size_t row = 0; row < tokens->size(); ++row) {
    const int64_t token = (*tokens)[row];
    const auto at = static_cast<int64_t>(row);
    if (MayBeDrawn(inputs->Row(at), token, inputs->LimitsOf(at))) continue;
    if (++wrong > 1) continue;
    verdict.message = token < 0 || token >= inputs->tokens()
                          ? absl::StrCat("token ", token, " of row ", row, " is none of the ",
                                         inputs->tokens(), " tokens")
                          : absl::StrCat("token ", token, " of row ", row,
                                         " is so unlikely that it may not be drawn");
    verdict.correctness.set_first_wrong_index(at);
    verdict.correctness.set_first_wrong_got(static_cast<double>(token));
  }
  verdict.right = wrong == 0;
  verdict.correctness.set_matched_ratio(1 - static_cast<double>(wrong) /
                                                static_cast<double>(tokens->size()));
  return verdict;
}

}  // namespace ksearch

#include "coordinator/service/recheck.h"

#include "absl/strings/str_cat.h"
#include "common/run_facts.h"

namespace ksearch {

absl::StatusOr<v1::JobResult> ClaimIn(const std::vector<v1::JobResult>& results,
                                      const std::string& candidate) {
  const v1::JobResult* claim = nullptr;
  for (const v1::JobResult& result : results) {
    if (OverBaseline(result) != nullptr) claim = &result;
  }
  if (claim == nullptr) {
    return absl::NotFoundError(absl::StrCat("candidate ", candidate,
                                            " has no confirmation that could be repeated; "
                                            "`ksearch eval --confirm` makes one"));
  }
  const v1::Comparison& comparison = *OverBaseline(*claim);
  if (comparison.verdict() != v1::Comparison::IMPROVED) {
    return absl::FailedPreconditionError(absl::StrCat("nothing is claimed of candidate ", candidate,
                                                      ": its confirmation over the baseline ended ",
                                                      VerdictText(comparison)));
  }
  return *claim;
}

v1::JobSpec RecheckJob(v1::JobSpec claimed_by, double confidence, const std::string& salt,
                       const std::string& device_id) {
  claimed_by.clear_rivals();
  claimed_by.add_rivals()->set_rival_id(kBaselineRival);
  claimed_by.mutable_plan()->set_confidence(confidence);
  claimed_by.set_salt(salt);
  claimed_by.set_avoid_device_id(device_id);
  return claimed_by;
}

}  // namespace ksearch

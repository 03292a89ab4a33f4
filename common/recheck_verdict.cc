#include "common/recheck_verdict.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/platform.h"
#include "common/run_facts.h"

namespace ksearch {
namespace {

// The differences from the platform of the claim; empty if none are known.
std::string OtherPlatform(const v1::DeviceFingerprint& claim, const v1::DeviceFingerprint& now) {
  if (now.name() != claim.name() || now.architecture() != claim.architecture()) {
    return "on another model of device";
  }
  if (now.harness_version() != claim.harness_version()) return "with another harness version";
  return Meets(PlatformOf(now), PlatformOf(claim)) ? "" : "with another toolkit";
}

}  // namespace

v1::RecheckResult JudgeRecheck(const v1::JobResult& claim, const v1::JobResult& repeated) {
  v1::RecheckResult result;
  const v1::Comparison& claimed = *OverBaseline(claim);
  *result.mutable_claimed() = claimed;
  *result.mutable_claimed_on() = claim.device();
  *result.mutable_repeated() = repeated;
  const auto say = [&](v1::RecheckResult::Verdict verdict, std::string text) {
    result.set_verdict(verdict);
    result.set_text(std::move(text));
    return result;
  };
  const std::string outcome = OutcomeWord(repeated.outcome());
  const v1::Comparison* measured = OverBaseline(repeated);
  if (repeated.outcome() == v1::OUTCOME_WORKER_LOST ||
      repeated.outcome() == v1::OUTCOME_CANCELLED || repeated.outcome() == v1::OUTCOME_TASK_ERROR) {
    return say(v1::RecheckResult::UNDECIDED,
               absl::StrCat("it was not measured: ", outcome, ": ", repeated.message()));
  }
  if (repeated.outcome() != v1::OUTCOME_PASSED) {
    return say(v1::RecheckResult::REFUTED,
               absl::StrCat("it did not pass again: ", outcome, ": ", repeated.message()));
  }
  if (repeated.suspicions_size() > 0) {
    return say(v1::RecheckResult::REFUTED,
               absl::StrCat("it is suspicious: ", absl::StrJoin(repeated.suspicions(), "; ")));
  }
  if (measured == nullptr) {
    return say(v1::RecheckResult::UNDECIDED, "the result lacks a comparison with the baseline");
  }
  const std::string other = OtherPlatform(claim.device(), repeated.device());
  if (other.empty() && measured->ci_high() < claimed.ci_low()) {
    return say(v1::RecheckResult::REFUTED,
               absl::StrCat("less than was claimed: ", VerdictText(*measured)));
  }
  switch (measured->verdict()) {
    case v1::Comparison::IMPROVED:
      return say(v1::RecheckResult::HOLDS,
                 absl::StrCat(other, other.empty() ? "" : ", whose ratio may differ: ",
                              VerdictText(*measured)));
    case v1::Comparison::UNDECIDED:
      return say(v1::RecheckResult::UNDECIDED,
                 absl::StrCat("the new interval is too wide: ", VerdictText(*measured)));
    default:
      return say(v1::RecheckResult::REFUTED, VerdictText(*measured));
  }
}

}  // namespace ksearch

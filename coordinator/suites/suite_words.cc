#include "coordinator/suites/suite_words.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/run_facts.h"

namespace ksearch {
namespace {

v1::SuiteScore Verdict(const SuiteWords& words, absl::string_view verdict,
                       const std::string& note) {
  v1::SuiteScore score;
  score.set_name(absl::StrCat(words.suite, " verdict"));
  score.set_verdict(std::string(verdict));
  score.set_note(note);
  return score;
}

std::optional<v1::SuiteScore> OnOutputs(const SuiteWords& words, const v1::JobResult& result) {
  int workloads = 0, trials = 0, passed = 0;
  bool all_made = true;
  std::string fault;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    if (!workload.has_suite_verdict()) continue;
    const v1::SuiteVerdict& verdict = workload.suite_verdict();
    ++workloads;
    trials += verdict.trials();
    passed += verdict.passed();
    all_made &= verdict.trials() >= words.trials;
    if (fault.empty() && !verdict.message().empty()) {
      fault = absl::StrCat(workload.workload_uuid(), ": ", verdict.message());
    }
  }
  if (trials == 0) return std::nullopt;
  std::string note =
      absl::StrCat(passed, " of ", trials, trials == 1 ? " trial" : " trials", " right on ",
                   workloads, workloads == 1 ? " workload" : " workloads");
  if (!all_made) {
    absl::StrAppend(&note, "; its rule makes ", words.trials, " on each");
  }
  if (!fault.empty()) absl::StrAppend(&note, "; ", fault);
  const bool right = passed == trials;
  if (right != (result.outcome() == v1::OUTCOME_PASSED)) {
    absl::StrAppend(&note, "; ksearch's own rules say ", OutcomeWord(result.outcome()));
  }
  return Verdict(words, right ? words.passed : words.incorrect, note);
}

}  // namespace

std::optional<v1::SuiteScore> VerdictScore(const SuiteWords& words, const v1::JobResult& result) {
  switch (result.outcome()) {
    case v1::OUTCOME_INVALID_SOURCE:
    case v1::OUTCOME_COMPILE_ERROR:
    case v1::OUTCOME_COMPILE_TIMEOUT:
    case v1::OUTCOME_COMPILE_LIMIT:
    case v1::OUTCOME_LOAD_ERROR:
      return Verdict(words, words.build_failed, "");
    case v1::OUTCOME_RUNTIME_ERROR:
    case v1::OUTCOME_RESOURCE_LIMIT:
      return Verdict(words, words.failed, "");
    case v1::OUTCOME_TIMEOUT:
      return Verdict(words, words.timed_out, "");
    case v1::OUTCOME_PASSED:
    case v1::OUTCOME_INCORRECT:
    case v1::OUTCOME_OUT_OF_BOUNDS:
    case v1::OUTCOME_INPUT_MODIFIED:
    case v1::OUTCOME_CHEAT:
      return OnOutputs(words, result);
    default:
      return std::nullopt;
  }
}

}  // namespace ksearch

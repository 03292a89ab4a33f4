#include "coordinator/search/examination.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/run_facts.h"

namespace ksearch {

bool WantsExamination(const EvaluationRules& rules, const v1::EvaluationLogState& log,
                      const v1::ScreenedProgram& program, std::optional<double> best_score) {
  if (!rules.examine_new_bests || !log.examining_refused().empty() || !program.passed()) {
    return false;
  }
  const bool new_best = !best_score.has_value() || program.score() > *best_score;
  return new_best && !log.confirmed().contains(program.candidate_id());
}

ExamineCandidate ExaminationOf(const v1::ScreenedProgram& program, absl::string_view screen_tag) {
  ExamineCandidate examination;
  examination.tag = absl::StrCat(screen_tag, kExamineTagEnd);
  examination.sources = program.sources();
  examination.candidate_id = program.candidate_id();
  examination.architecture = program.result().device().architecture();
  return examination;
}

std::string ToolIsMissing(const v1::JobResult& result) {
  // A tool that was started took time, whatever its result.
  if (result.outcome() != v1::OUTCOME_PASSED || result.sanitizer().has_time()) return "";
  return result.sanitizer().note().empty() ? "the worker has no compute-sanitizer"
                                           : result.sanitizer().note();
}

v1::ConfirmedProgram ReadExamination(const v1::JobResult& result,
                                     const std::vector<std::string>& findings) {
  v1::ConfirmedProgram examined;
  examined.set_by_examination(true);
  for (const std::string& finding : findings) examined.add_findings(finding);
  examined.set_refused(result.outcome() != v1::OUTCOME_PASSED);
  examined.set_verdict(examined.refused() ? OutcomeWord(result.outcome()) : "no output was wrong");
  return examined;
}

}  // namespace ksearch

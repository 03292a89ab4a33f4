#include "coordinator/search/examination.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ksearch {

bool WantsExamination(const SearchSettings& settings, const v1::SearchState& state,
                      const v1::CycleState& cycle, const v1::ScreenedProgram& program) {
  if (!settings.examine_new_bests || !state.examining_refused().empty() || !program.passed()) {
    return false;
  }
  const v1::CycleProgress& progress = cycle.progress();
  const bool new_best = !progress.has_best() || program.score() > progress.best_score();
  const auto confirmed = state.confirmed().find(program.candidate_id());
  return new_best && confirmed == state.confirmed().end();
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
  // A tool that was started, whatever became of it, took time.
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
  examined.set_verdict(examined.refused() ? absl::AsciiStrToLower(absl::StripPrefix(
                                                v1::Outcome_Name(result.outcome()), "OUTCOME_"))
                                          : "no output was wrong");
  return examined;
}

}  // namespace ksearch

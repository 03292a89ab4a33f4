#ifndef KSEARCH_COORDINATOR_SEARCH_EXAMINATION_H_
#define KSEARCH_COORDINATOR_SEARCH_EXAMINATION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/search/evaluation_rules.h"
#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// Which screened programs a search has examined with cheap tools, and what it learns from that.
// Functions of log and rules alone, so that a resumed search decides as it would have.

// Whether `program`, just screened, is to be examined before the search continues with it: it is
// about to take the place of the best one (of `best_score`, if there is one), and no confirmation
// has looked at it.
bool WantsExamination(const EvaluationRules& rules, const v1::EvaluationLogState& log,
                      const v1::ScreenedProgram& program, std::optional<double> best_score);

// On the kind of device that screened it.
ExamineCandidate ExaminationOf(const v1::ScreenedProgram& program, absl::string_view screen_tag);

// Why no examination of this run can say anything, as `result` shows; empty: it does not. Its
// worker has no tool.
std::string ToolIsMissing(const v1::JobResult& result);

// What an examination that ended says of its program. Refused is one that failed; a tool's report
// that no second witness confirmed is among the findings and refuses nothing. `findings`: in words
// that models may read.
v1::ConfirmedProgram ReadExamination(const v1::JobResult& result,
                                     const std::vector<std::string>& findings);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_EXAMINATION_H_

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

// Decides which screened programs a search has examined with cheap tools, and what it learns from
// that. The functions depend only on log and rules, so that a resumed search decides the same.

// Returns true if `program`, just screened, is to be examined before the search continues with it:
// it is about to replace the best one (with `best_score`, if there is one), and it has not been
// confirmed.
bool WantsExamination(const EvaluationRules& rules, const v1::EvaluationLogState& log,
                      const v1::ScreenedProgram& program, std::optional<double> best_score);

// Its examination, on the kind of device that screened it.
ExamineCandidate ExaminationOf(const v1::ScreenedProgram& program, absl::string_view screen_tag);

// If `result` shows that the worker has no tools, why no examination of this run can find anything;
// else empty.
std::string ToolIsMissing(const v1::JobResult& result);

// What a completed examination says about its program. A program that failed is refused; a tool's
// report without a second witness is only listed among the findings. `findings`: in words that
// models may read.
v1::ConfirmedProgram ReadExamination(const v1::JobResult& result,
                                     const std::vector<std::string>& findings);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_EXAMINATION_H_

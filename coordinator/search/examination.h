#ifndef KSEARCH_COORDINATOR_SEARCH_EXAMINATION_H_
#define KSEARCH_COORDINATOR_SEARCH_EXAMINATION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/search/search_settings.h"
#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// Which screened programs a search has examined with cheap tools, and what it learns from that.
// Functions of state and settings alone, so that a resumed search decides as it would have.

// Whether `program`, screened for `cycle`, is to be examined before the search goes on with it: it
// is about to become the cycle's best, and no confirmation has looked at it.
bool WantsExamination(const SearchSettings& settings, const v1::SearchState& state,
                      const v1::CycleState& cycle, const v1::ScreenedProgram& program);

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

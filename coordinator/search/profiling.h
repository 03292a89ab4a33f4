#ifndef KSEARCH_COORDINATOR_SEARCH_PROFILING_H_
#define KSEARCH_COORDINATOR_SEARCH_PROFILING_H_

#include <string>

#include "coordinator/search/evaluation_rules.h"
#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// Decides which screened programs a search has profiled, and what it keeps of a profile. The
// functions depend only on log and rules, so that a resumed search decides the same.

// Returns true if `program`, just recorded among log.screened, is to be profiled. `shown`: some
// later prompt may show it. See ProfilePolicy in proto/config.proto.
bool WantsProfile(const EvaluationRules& rules, const v1::EvaluationLogState& log,
                  const v1::ScreenedProgram& program, bool shown);

// Its profiling job: on the workload that took longest, on the kind of device that screened it.
ProfileCandidate ProfilingOf(const EvaluationRules& rules, const v1::ScreenedProgram& program,
                             const std::string& screen_tag);

// Stores the profile, or why there is none, in `program` and in the log's record of it. If the
// worker cannot profile, remembers that and profiles nothing more. Returns a line for the event.
std::string TakeProfile(const EvaluationRules& rules, const v1::JobResult& result,
                        v1::ScreenedProgram* program, v1::EvaluationLogState* log);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PROFILING_H_

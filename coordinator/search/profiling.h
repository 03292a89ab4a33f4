#ifndef KSEARCH_COORDINATOR_SEARCH_PROFILING_H_
#define KSEARCH_COORDINATOR_SEARCH_PROFILING_H_

#include <string>

#include "coordinator/search/evaluation_rules.h"
#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// Which screened programs a search has profiled, and what it keeps of a profile. Functions of log
// and rules alone, so that a resumed search decides as it would have.

// Whether `program`, just recorded among log.screened, is to be profiled. `shown`: some later
// prompt may show it. See ProfilePolicy in proto/config.proto.
bool WantsProfile(const EvaluationRules& rules, const v1::EvaluationLogState& log,
                  const v1::ScreenedProgram& program, bool shown);

// Its profiling, on the workload that took longest, on the kind of device that screened it.
ProfileCandidate ProfilingOf(const EvaluationRules& rules, const v1::ScreenedProgram& program,
                             const std::string& screen_tag);

// Puts the profile, or why there is none, into `program` and into what the log remembers of it.
// Remembers a worker that cannot profile; nothing is profiled after that. Returns the line to
// tell.
std::string TakeProfile(const EvaluationRules& rules, const v1::JobResult& result,
                        v1::ScreenedProgram* program, v1::EvaluationLogState* log);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PROFILING_H_

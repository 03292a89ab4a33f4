#ifndef KSEARCH_COORDINATOR_ENGINE_EVENT_DETAIL_H_
#define KSEARCH_COORDINATOR_ENGINE_EVENT_DETAIL_H_

#include <optional>
#include <string>
#include <vector>

#include "coordinator/store/store.h"

namespace ksearch {

// The input of a step of a run; at most one of the two is set.
struct StepCause {
  std::optional<LlmCallRow> call;       // answered
  std::optional<v1::JobResult> result;  // of a job of the run
};

// The sources for the details of a step's events. Borrows all of them.
struct StepFacts {
  const StepCause* cause;
  const std::vector<CandidateRow>* candidates;  // that the step adds
  const v1::WorldModel* world_model;            // after the step; null: there is none
  const v1::RunStatus* status;                  // after the step, run_id included
};

// Fills in RunEvent.detail, RunEvent.call and RunEvent.totals. Anything that cannot be read from
// the store is omitted: the event is correct without it.
void FillEventDetail(Store* store, const StepFacts& facts, v1::RunEvent* event);

// RunEvent.call of an answered call.
v1::CallDetail DetailOf(const LlmCallRow& call);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_EVENT_DETAIL_H_

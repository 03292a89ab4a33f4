#ifndef KSEARCH_COORDINATOR_ENGINE_EVENT_DETAIL_H_
#define KSEARCH_COORDINATOR_ENGINE_EVENT_DETAIL_H_

#include <optional>
#include <string>
#include <vector>

#include "coordinator/store/store.h"

namespace ksearch {

// What a step of a run takes in; at most one of the two.
struct StepCause {
  std::optional<LlmCallRow> call;       // answered
  std::optional<v1::JobResult> result;  // of a job of the run
};

// What the details of a step's events are made of. Borrows.
struct StepFacts {
  const StepCause* cause;
  const std::vector<CandidateRow>* candidates;  // that the step adds
  const v1::WorldModel* world_model;            // after the step; null: there is none
  const v1::RunStatus* status;                  // after the step, run_id included
};

// Fills RunEvent.detail, RunEvent.call and RunEvent.totals. What cannot be read from the store is
// left out: the event is true without it.
void FillEventDetail(Store* store, const StepFacts& facts, v1::RunEvent* event);

// RunEvent.call of an answered call.
v1::CallDetail DetailOf(const LlmCallRow& call);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_EVENT_DETAIL_H_

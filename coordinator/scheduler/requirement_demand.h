#ifndef KSEARCH_COORDINATOR_SCHEDULER_REQUIREMENT_DEMAND_H_
#define KSEARCH_COORDINATOR_SCHEDULER_REQUIREMENT_DEMAND_H_

#include "absl/time/time.h"
#include "coordinator/scheduler/placement.h"

namespace ksearch {

// What waits for workers that meet one requirement, and the workers that do (v1::Demand).
struct RequirementDemand {
  Requirement requirement;
  int queued = 0;
  int leased = 0;
  absl::Duration oldest;         // how long the oldest queued job waits, from when it was submitted
  absl::Duration expected_time;  // of all queued jobs, one after another
  absl::Duration longest_job;    // of the queued
  int too_short = 0;             // queued jobs that no such worker stays long enough for
  int workers = 0;               // willing ones
  int free_slots = 0;
  int busy_slots = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_REQUIREMENT_DEMAND_H_

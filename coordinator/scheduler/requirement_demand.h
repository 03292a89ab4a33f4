#ifndef KSEARCH_COORDINATOR_SCHEDULER_REQUIREMENT_DEMAND_H_
#define KSEARCH_COORDINATOR_SCHEDULER_REQUIREMENT_DEMAND_H_

#include "absl/time/time.h"
#include "coordinator/scheduler/placement.h"

namespace ksearch {

// The jobs that wait for workers of one requirement, and the number of such workers (v1::Demand).
struct RequirementDemand {
  Requirement requirement;
  int queued = 0;
  int leased = 0;
  absl::Duration oldest;         // age of the oldest queued job since it was submitted
  absl::Duration expected_time;  // sum over all queued jobs
  absl::Duration longest_job;    // among the queued jobs
  int too_short = 0;             // queued jobs for which no such worker stays long enough
  int workers = 0;               // such workers that accept jobs
  int free_slots = 0;
  int busy_slots = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_REQUIREMENT_DEMAND_H_

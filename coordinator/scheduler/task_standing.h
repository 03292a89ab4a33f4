#ifndef KSEARCH_COORDINATOR_SCHEDULER_TASK_STANDING_H_
#define KSEARCH_COORDINATOR_SCHEDULER_TASK_STANDING_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// Tracks whether tasks' own programs work, as shown by results (common/task_evidence.h). After a
// restart the owner passes in the faults that the store knows; that a task works is not stored.
// Thread-compatible.
class TaskStanding {
 public:
  // Returns true if this result is the first to show that the job's task is at fault.
  bool Note(const v1::JobSpec& spec, const v1::JobResult& result);
  // Returns the fault of the task if it would affect this job, and null otherwise. A job with a
  // salt is unaffected, because it repeats the attempt deliberately, and so is a BUILD job, which
  // uses none of the task's programs.
  const std::string* FaultFor(const v1::JobSpec& spec) const;
  // Returns true if a job of the task has successfully run its reference.
  bool IsProven(const v1::JobSpec& spec) const;

 private:
  absl::flat_hash_map<std::string, std::string> faults_;
  absl::flat_hash_set<std::string> proven_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_TASK_STANDING_H_

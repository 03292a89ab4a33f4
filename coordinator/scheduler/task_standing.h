#ifndef KSEARCH_COORDINATOR_SCHEDULER_TASK_STANDING_H_
#define KSEARCH_COORDINATOR_SCHEDULER_TASK_STANDING_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// What results have shown of tasks' own programs (common/task_evidence.h). After a restart the
// owner notes again what the store knows of faults; that a task works is not remembered.
// Thread-compatible.
class TaskStanding {
 public:
  // True: the result showed for the first time that the job's task is at fault.
  bool Note(const v1::JobSpec& spec, const v1::JobResult& result);
  // What is wrong with the task, if this job would meet it too; null: nothing is known to be. Jobs
  // with a salt ask again, and a BUILD job needs nothing of the task's programs.
  const std::string* FaultFor(const v1::JobSpec& spec) const;
  // Whether a job of the task has run through its reference.
  bool IsProven(const v1::JobSpec& spec) const;

 private:
  absl::flat_hash_map<std::string, std::string> faults_;
  absl::flat_hash_set<std::string> proven_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_TASK_STANDING_H_

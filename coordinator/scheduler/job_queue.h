#ifndef KSEARCH_COORDINATOR_SCHEDULER_JOB_QUEUE_H_
#define KSEARCH_COORDINATOR_SCHEDULER_JOB_QUEUE_H_

#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "common/fair_turns.h"
#include "coordinator/scheduler/placement.h"

namespace ksearch {

// Jobs that wait to be leased, ordered by turn and grouped by requirement, so that a search for a
// worker's next job skips the groups that the worker cannot run. Thread-compatible.
class JobQueue {
 public:
  // Adds a job. A job that is queued again keeps its turn.
  void Push(const Requirement& requirement, const Turn& turn, const std::string& job_id);
  void Remove(const Requirement& requirement, const Turn& turn);

  // Calls `visit` for each job whose requirement `accepts` accepts, in order of turns across all
  // groups, until `visit` returns false. `visit` must not change the queue.
  void Visit(absl::FunctionRef<bool(const Requirement&)> accepts,
             absl::FunctionRef<bool(const std::string& job_id)> visit) const;
  // Returns true if `accepts` accepts the requirement of any queued job.
  bool HasAny(absl::FunctionRef<bool(const Requirement&)> accepts) const;

  int size() const { return size_; }

 private:
  std::map<Requirement, std::map<Turn, std::string>> groups_;  // no group is empty
  int size_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_JOB_QUEUE_H_

#ifndef KSEARCH_COORDINATOR_SCHEDULER_JOB_QUEUE_H_
#define KSEARCH_COORDINATOR_SCHEDULER_JOB_QUEUE_H_

#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "common/fair_turns.h"
#include "coordinator/scheduler/placement.h"

namespace ksearch {

// Jobs that wait, in order of their turns, grouped by requirement so that a worker never looks at
// jobs it could not run. Thread-compatible.
class JobQueue {
 public:
  // A job that comes back keeps its turn.
  void Push(const Requirement& requirement, const Turn& turn, const std::string& job_id);
  void Remove(const Requirement& requirement, const Turn& turn);

  // Calls `visit` for the jobs whose requirement `accepts`, in order over all groups, until it
  // returns false. The queue must not change meanwhile.
  void Visit(absl::FunctionRef<bool(const Requirement&)> accepts,
             absl::FunctionRef<bool(const std::string& job_id)> visit) const;
  // Whether any group with jobs in it is accepted.
  bool HasAny(absl::FunctionRef<bool(const Requirement&)> accepts) const;

  int size() const { return size_; }

 private:
  std::map<Requirement, std::map<Turn, std::string>> groups_;  // no group is empty
  int size_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_JOB_QUEUE_H_

#ifndef KSEARCH_COORDINATOR_SCHEDULER_JOB_QUEUE_H_
#define KSEARCH_COORDINATOR_SCHEDULER_JOB_QUEUE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "coordinator/scheduler/placement.h"

namespace ksearch {

// Jobs that wait, oldest first, grouped by requirement so that a worker never looks at jobs it
// could not run. Thread-compatible.
class JobQueue {
 public:
  // `order` is unique to the job and rises with its age; a job that comes back keeps its place.
  void Push(const Requirement& requirement, int64_t order, const std::string& job_id);
  void Remove(const Requirement& requirement, int64_t order);

  // Calls `visit` for the jobs whose requirement `accepts`, oldest first over all groups, until it
  // returns false. The queue must not change meanwhile.
  void Visit(absl::FunctionRef<bool(const Requirement&)> accepts,
             absl::FunctionRef<bool(const std::string& job_id)> visit) const;
  // Whether any group with jobs in it is accepted.
  bool HasAny(absl::FunctionRef<bool(const Requirement&)> accepts) const;

  int size() const { return size_; }

 private:
  std::map<Requirement, std::map<int64_t, std::string>> groups_;  // no group is empty
  int size_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_JOB_QUEUE_H_

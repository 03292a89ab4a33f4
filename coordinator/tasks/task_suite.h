#ifndef KSEARCH_COORDINATOR_TASKS_TASK_SUITE_H_
#define KSEARCH_COORDINATOR_TASKS_TASK_SUITE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/search_service.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// A source of tasks. Deterministic: the same files give the same Task. Thread-safe.
class TaskSuite {
 public:
  virtual ~TaskSuite() = default;
  // Every task, usable or not (`error` says why not), sorted by name.
  virtual std::vector<v1::TaskSummary> List() const = 0;
  // NOT_FOUND (the message lists near names); INVALID_ARGUMENT "<file>:<line or field>: what".
  virtual absl::StatusOr<v1::Task> Load(const std::string& name) const = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_TASK_SUITE_H_

#ifndef KSEARCH_COORDINATOR_TASKS_DIRECTORY_SUITE_H_
#define KSEARCH_COORDINATOR_TASKS_DIRECTORY_SUITE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/tasks/task_suite.h"

namespace ksearch {

// A suite of all task folders (folders with definition.json or task.textproto) at most 3 levels
// below `dirs`, each named after its folder. Folders are read again at each call, so that an edited
// task needs no restart. If two folders have the same name, the first one wins, in the order of
// `dirs` and then of paths, and the other is listed with an error. Paths in the results are
// absolute even if `dirs` are not. NOT_FOUND or INVALID_ARGUMENT if one of `dirs` is not a folder.
absl::StatusOr<std::unique_ptr<TaskSuite>> MakeDirectorySuite(std::vector<std::string> dirs);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_DIRECTORY_SUITE_H_

#ifndef KSEARCH_COORDINATOR_TASKS_DIRECTORY_SUITE_H_
#define KSEARCH_COORDINATOR_TASKS_DIRECTORY_SUITE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/tasks/task_suite.h"

namespace ksearch {

// Every task folder (one that holds definition.json or task.textproto) at most 3 levels below
// `dirs`, named by its own name. Folders are read again at each call, so that an edited task needs
// no restart. Where two folders bear one name, the first wins, in the order of `dirs` and then of
// paths; the other is listed with an error. Paths are absolute, whatever `dirs` are. NOT_FOUND or
// INVALID_ARGUMENT if one of `dirs` is no folder.
absl::StatusOr<std::unique_ptr<TaskSuite>> MakeDirectorySuite(std::vector<std::string> dirs);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_DIRECTORY_SUITE_H_

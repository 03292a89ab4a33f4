#ifndef KSEARCH_COORDINATOR_TASKS_TASK_FOLDER_H_
#define KSEARCH_COORDINATOR_TASKS_TASK_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/task.pb.h"

namespace ksearch {

// Files of a task's folder. Sources are reference.<ext> and baseline.<ext>, where <ext> determines
// the language (common/language.h), at most one of each per language. A task holds them in the
// order of the table of languages, which decides where no other rule does
// (common/trusted_programs.h).
inline constexpr char kDefinitionFile[] = "definition.json";
inline constexpr char kWorkloadsFile[] = "workloads.jsonl";
inline constexpr char kSettingsFile[] = "task.textproto";

// The largest reference or baseline that is read.
inline constexpr int64_t kMaxTaskSourceBytes = 1 << 20;

// Reads the folder (docs/task_format.md) and checks the task as a whole: the folder's name is the
// definition's name; a reference and a baseline exist and run on the task's device; there are
// held-out workloads and feedback ones; tolerance and work formulas are valid; buffer sizes are
// possible; names can be used in the kernel header. NOT_FOUND if a file is missing,
// INVALID_ARGUMENT "<file>:<line>: what" or "<file>: <field>: what".
absl::StatusOr<v1::Task> LoadTaskFolder(const std::string& folder);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_TASK_FOLDER_H_

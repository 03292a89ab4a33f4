#ifndef KSEARCH_CLI_TASK_TORCH_TASK_FOLDER_H_
#define KSEARCH_CLI_TASK_TORCH_TASK_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cli/task/traced_task.h"

namespace ksearch {

// baseline.py: the user's text followed by a `run` that calls the user's function. A program of a
// task is one file, so the text is copied and not imported.
std::string BaselineText(const TracedTask& task, absl::string_view user_text);

// reference.py: the same, except that floating inputs become float64 and results are cast back.
std::string ReferenceText(const TracedTask& task, absl::string_view user_text);

// Creates <output>/<the task's name>, complete or not at all, once the coordinator's own reader has
// found no fault in it. If the settings describe the baseline, BaselineText is written as
// reference.py, and no other program is written. Creates `output` if it does not exist. Fails with
// ALREADY_EXISTS if the task's folder exists, and with INVALID_ARGUMENT, which names the file and
// the field, if a file has a fault.
absl::Status WriteTorchTaskFolder(const TracedTask& task, absl::string_view user_text,
                                  const std::string& output);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_TORCH_TASK_FOLDER_H_

#ifndef KSEARCH_CLI_TASK_TORCH_TASK_FOLDER_H_
#define KSEARCH_CLI_TASK_TORCH_TASK_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cli/task/traced_task.h"

namespace ksearch {

// baseline.py: the user's text, and after it a `run` that calls his function. A program of a task
// is one file, so that the text is copied and not imported.
std::string BaselineText(const TracedTask& task, absl::string_view user_text);

// reference.py: the same, but floating inputs are made float64 and results are cast back.
std::string ReferenceText(const TracedTask& task, absl::string_view user_text);

// Makes <output>/<the task's name>, complete or not at all, after the coordinator's own reader has
// found nothing wrong with it. Where the settings have a word for the baseline, reference.py is
// BaselineText, and there is no other program. Makes `output` if it is missing. ALREADY_EXISTS if
// the folder is there; INVALID_ARGUMENT names the file and the field.
absl::Status WriteTorchTaskFolder(const TracedTask& task, absl::string_view user_text,
                                  const std::string& output);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_TORCH_TASK_FOLDER_H_

#ifndef KSEARCH_COMMON_PROGRAM_FORM_H_
#define KSEARCH_COMMON_PROGRAM_FORM_H_

#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// Returns true if a file's text is of this form (v1::ProgramForm.begins and begins_not).
bool IsOfForm(const v1::ProgramForm& form, absl::string_view text);

// The form of the task that a program is of; null if it is of none and has the task's own entry, if
// any. A pointer into `task`.
const v1::ProgramForm* FormOf(const v1::Task& task, const v1::Sources& program);

// The program as it is built: one that is of a form of the task becomes one with the task's entry,
// any other stays as it is.
v1::Sources WithTaskEntry(const v1::Task& task, const v1::Sources& program);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_PROGRAM_FORM_H_

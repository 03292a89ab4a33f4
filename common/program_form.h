#ifndef KSEARCH_COMMON_PROGRAM_FORM_H_
#define KSEARCH_COMMON_PROGRAM_FORM_H_

#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// Returns true if a file's text has this form (v1::ProgramForm.begins and begins_not).
bool IsOfForm(const v1::ProgramForm& form, absl::string_view text);

// Returns the one of the task's forms that a program has, as a pointer into `task`; null if it has
// none of them, and so at most the task's own entry.
const v1::ProgramForm* FormOf(const v1::Task& task, const v1::Sources& program);

// Returns the program as it is built: a program in one of the task's forms gets the task's entry;
// any other is returned unchanged.
v1::Sources WithTaskEntry(const v1::Task& task, const v1::Sources& program);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_PROGRAM_FORM_H_

#ifndef KSEARCH_CLI_TASK_FAULT_LINE_H_
#define KSEARCH_CLI_TASK_FAULT_LINE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ksearch {

// A message in one line, for a table: of Python's tracebacks only the last line, which says what
// was raised; other lines are joined by blanks.
std::string FaultLine(absl::string_view message);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_FAULT_LINE_H_

#ifndef KSEARCH_CLI_LINE_DIFF_H_
#define KSEARCH_CLI_LINE_DIFF_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// Returns the change from `before` to `after` as hunks of a unified diff with three lines of
// context. Empty if they are equal. A missing newline at the end of a file is ignored.
std::string LineDiff(absl::string_view before, absl::string_view after);

// The same for programs: every file that differs, under its name; a file that only one of them has
// is compared with /dev/null.
std::string SourcesDiff(const v1::Sources& before, const v1::Sources& after);

}  // namespace ksearch

#endif  // KSEARCH_CLI_LINE_DIFF_H_

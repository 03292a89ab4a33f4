#ifndef KSEARCH_CLI_LINE_DIFF_H_
#define KSEARCH_CLI_LINE_DIFF_H_

#include <string>

#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// What changes `before` into `after`, as hunks of a unified diff with three lines around each
// change. Empty: they are the same. A file whose last line has no end counts as if it had one.
std::string LineDiff(absl::string_view before, absl::string_view after);

// The same for programs: every file that differs, under its name; a file that only one of them has
// is compared with /dev/null.
std::string SourcesDiff(const v1::Sources& before, const v1::Sources& after);

}  // namespace ksearch

#endif  // KSEARCH_CLI_LINE_DIFF_H_

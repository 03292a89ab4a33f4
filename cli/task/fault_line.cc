#include "cli/task/fault_line.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ksearch {
namespace {

constexpr absl::string_view kTraceback = "Traceback (most recent call last):";

}  // namespace

std::string FaultLine(absl::string_view message) {
  std::vector<absl::string_view> parts;
  bool in_traceback = false;
  for (absl::string_view line : absl::StrSplit(message, '\n')) {
    // The lines of calls are indented, what was raised is not.
    in_traceback = in_traceback && absl::StartsWith(line, " ");
    if (in_traceback) continue;
    in_traceback = absl::ConsumeSuffix(&line, kTraceback);
    line = absl::StripAsciiWhitespace(line);
    if (!line.empty()) parts.push_back(line);
  }
  return absl::StrJoin(parts, " ");
}

}  // namespace ksearch

// UnifiedDiffHunks.
#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "coordinator/proposer/reply/hunk.h"

namespace ksearch {
namespace {

constexpr absl::string_view kNoFile = "/dev/null";

// The path in a line "--- a/kernel.cpp<tab>date".
std::string PathIn(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line.substr(4));
  return std::string(line.substr(0, line.find('\t')));
}

// N of "@@ -N,n +M,m @@"; 0 if there is none.
int FirstLine(absl::string_view line) {
  const size_t minus = line.find('-');
  if (minus == absl::string_view::npos) return 0;
  const absl::string_view rest = line.substr(minus + 1);
  int number = 0;
  if (!absl::SimpleAtoi(rest.substr(0, rest.find_first_not_of("0123456789")), &number)) return 0;
  return std::max(0, number);
}

bool IsHeader(const std::vector<absl::string_view>& lines, size_t at) {
  return at + 1 < lines.size() && absl::StartsWith(lines[at], "--- ") &&
         absl::StartsWith(lines[at + 1], "+++ ");
}

}  // namespace

absl::StatusOr<std::vector<Hunk>> UnifiedDiffHunks(absl::string_view text) {
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  std::vector<Hunk> hunks;
  std::string path;
  bool deletes = false;
  bool in_file = false;
  size_t at = 0;
  while (at < lines.size()) {
    if (IsHeader(lines, at)) {
      const std::string from = PathIn(lines[at]);
      const std::string to = PathIn(lines[at + 1]);
      deletes = to == kNoFile;
      path = deletes ? from : to;
      in_file = true;
      at += 2;
      if (deletes) {
        Hunk& hunk = hunks.emplace_back();
        hunk.path = path;
        hunk.deletes_file = true;
      }
      continue;
    }
    if (!in_file || !absl::StartsWith(lines[at], "@@")) {
      if (absl::StartsWith(lines[at], "```")) in_file = false;
      ++at;
      continue;
    }
    if (hunks.size() >= kMaxHunks) {
      return absl::InvalidArgumentError(
          absl::StrCat("the reply has more than ", kMaxHunks, " changes: send whole files"));
    }
    Hunk hunk;
    hunk.path = path;
    hunk.line = FirstLine(lines[at]);
    for (++at; at < lines.size() && !IsHeader(lines, at); ++at) {
      const absl::string_view line = lines[at];
      if (line.empty()) {  // a blank line whose one space was lost
        hunk.before.emplace_back();
        hunk.after.emplace_back();
      } else if (line[0] == ' ') {
        hunk.before.emplace_back(line.substr(1));
        hunk.after.emplace_back(line.substr(1));
      } else if (line[0] == '-') {
        hunk.before.emplace_back(line.substr(1));
      } else if (line[0] == '+') {
        hunk.after.emplace_back(line.substr(1));
      } else if (line[0] != '\\') {  // "\ No newline at end of file"
        break;
      }
    }
    // Blank lines at the end belong to the surrounding text, not to the diff.
    while (!hunk.before.empty() && !hunk.after.empty() && hunk.before.back().empty() &&
           hunk.after.back().empty()) {
      hunk.before.pop_back();
      hunk.after.pop_back();
    }
    if (!deletes && (!hunk.before.empty() || !hunk.after.empty())) {
      hunks.push_back(std::move(hunk));
    }
  }
  return hunks;
}

}  // namespace ksearch

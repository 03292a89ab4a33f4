// ParsePointsReply: from a model's text to a list of notes.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

constexpr size_t kMaxPoint = 600;

// Removes the mark of a point at the beginning of a line; false: there is none.
bool ConsumeMark(absl::string_view* line) {
  for (const absl::string_view mark : {"- ", "* ", "\xE2\x80\xA2 "}) {
    if (absl::ConsumePrefix(line, mark)) return true;
  }
  size_t digits = 0;
  while (digits < line->size() && digits < 3 &&
         absl::ascii_isdigit(static_cast<unsigned char>((*line)[digits]))) {
    ++digits;
  }
  if (digits == 0 || digits + 1 >= line->size()) return false;
  const char after = (*line)[digits];
  if ((after != '.' && after != ')') || (*line)[digits + 1] != ' ') return false;
  line->remove_prefix(digits + 2);
  return true;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ParsePointsReply(absl::string_view reply, int wanted) {
  if (static_cast<int64_t>(reply.size()) > kMaxReplyBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the reply has ", reply.size(), " bytes; at most ", kMaxReplyBytes, " are read"));
  }
  std::vector<std::string> points;
  bool open = false;  // an indented line continues the point before it
  for (absl::string_view line : absl::StrSplit(reply, '\n')) {
    const bool indented = !line.empty() && (line[0] == ' ' || line[0] == '\t');
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) {
      open = false;
      continue;
    }
    if (ConsumeMark(&line) && !(indented && open)) {
      if (static_cast<int>(points.size()) == wanted) break;
      points.emplace_back(line);
      open = true;
    } else if (open && points.back().size() < kMaxPoint) {
      absl::StrAppend(&points.back(), " ", line);
    }
  }
  for (std::string& point : points) point = SafeLine(point, kMaxPoint - 3);  // and "..."
  points.erase(std::remove_if(points.begin(), points.end(),
                              [](const std::string& point) { return point.empty(); }),
               points.end());
  if (points.empty()) {
    return absl::InvalidArgumentError(
        "the reply has no list: put each point on a line of its own that begins with \"- \"");
  }
  return points;
}

}  // namespace ksearch

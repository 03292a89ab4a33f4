// SearchReplaceHunks.
#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "coordinator/proposer/reply/hunk.h"

namespace ksearch {
namespace {

// A line of five to nine such characters and, if `word`, words behind them.
bool IsMarker(absl::string_view line, char c, bool words) {
  line = absl::StripAsciiWhitespace(line);
  const size_t count = std::min(line.size(), line.find_first_not_of(c));
  if (count < 5 || count > 9) return false;
  const absl::string_view rest = line.substr(count);
  if (rest.empty()) return true;
  return words && rest[0] == ' ' && rest.size() <= 40;
}

// The path of <patch path="...">; false: the line is not such a tag.
bool PatchTag(absl::string_view line, std::string* path) {
  line = absl::StripAsciiWhitespace(line);
  if (!absl::StartsWithIgnoreCase(line, "<patch")) return false;
  const size_t begin = line.find_first_of("\"'");
  path->clear();
  if (begin == absl::string_view::npos) return true;
  const size_t end = line.find(line[begin], begin + 1);
  if (end != absl::string_view::npos) *path = std::string(line.substr(begin + 1, end - begin - 1));
  return true;
}

// The known path in a line that has only marks around it.
std::string NamedFile(absl::string_view line, const std::vector<std::string>& paths) {
  while (!line.empty() && absl::StrContains("#*`: \t>-", line.substr(0, 1))) line.remove_prefix(1);
  while (!line.empty() && absl::StrContains("#*`: \t", line.substr(line.size() - 1))) {
    line.remove_suffix(1);
  }
  const auto found = std::find(paths.begin(), paths.end(), line);
  return found == paths.end() ? "" : *found;
}

}  // namespace

absl::StatusOr<std::vector<Hunk>> SearchReplaceHunks(absl::string_view text,
                                                     const std::vector<std::string>& paths) {
  enum class Part { kOutside, kBefore, kAfter };
  std::vector<Hunk> hunks;
  Part part = Part::kOutside;
  std::string path;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (part == Part::kOutside) {
      std::string named;
      if (PatchTag(line, &named)) {
        path = named;
      } else if (absl::StartsWithIgnoreCase(absl::StripAsciiWhitespace(line), "</patch")) {
        path.clear();
      } else if (IsMarker(line, '<', true)) {
        if (hunks.size() == kMaxHunks) {
          return absl::InvalidArgumentError(
              absl::StrCat("the reply has more than ", kMaxHunks, " changes: send whole files"));
        }
        hunks.emplace_back().path = path;
        part = Part::kBefore;
      } else if (named = NamedFile(line, paths); !named.empty()) {
        path = named;
      }
    } else if (part == Part::kBefore && IsMarker(line, '=', false)) {
      part = Part::kAfter;
    } else if (part == Part::kAfter && IsMarker(line, '>', true)) {
      part = Part::kOutside;
    } else {
      (part == Part::kBefore ? hunks.back().before : hunks.back().after).emplace_back(line);
    }
  }
  if (part != Part::kOutside) {
    return absl::InvalidArgumentError(
        absl::StrCat("change ", hunks.size(), " has no ",
                     part == Part::kBefore ? "======= and no >>>>>>> REPLACE" : ">>>>>>> REPLACE",
                     ": the reply seems to be cut off"));
  }
  return hunks;
}

}  // namespace ksearch

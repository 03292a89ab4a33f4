#include "cli/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ksearch {
namespace {

constexpr int kAround = 3;  // lines shown before and after a change
// Beyond this many pairs of lines, the differing middle is shown as replaced as a whole.
constexpr size_t kMostPairs = 25'000'000;

struct Line {
  char mark;  // ' ', '-' or '+'
  absl::string_view text;
};

std::vector<absl::string_view> Lines(absl::string_view text) {
  std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

// A longest common subsequence of what lies between equal beginnings and ends.
void AppendMiddle(const std::vector<absl::string_view>& before,
                  const std::vector<absl::string_view>& after, std::vector<Line>* lines) {
  const size_t rows = before.size(), columns = after.size();
  size_t row = 0, column = 0;
  if (rows * columns <= kMostPairs) {
    // common[r * (columns + 1) + c]: common lines of the remainders from r and c on.
    std::vector<uint16_t> common((rows + 1) * (columns + 1));
    const auto at = [&](size_t r, size_t c) -> uint16_t& { return common[r * (columns + 1) + c]; };
    for (size_t r = rows; r-- > 0;) {
      for (size_t c = columns; c-- > 0;) {
        at(r, c) = before[r] == after[c] ? static_cast<uint16_t>(at(r + 1, c + 1) + 1)
                                         : std::max(at(r + 1, c), at(r, c + 1));
      }
    }
    while (row < rows && column < columns) {
      if (before[row] == after[column]) {
        lines->push_back({' ', before[row]});
        ++row, ++column;
      } else if (at(row + 1, column) >= at(row, column + 1)) {
        lines->push_back({'-', before[row++]});
      } else {
        lines->push_back({'+', after[column++]});
      }
    }
  }
  while (row < rows) lines->push_back({'-', before[row++]});
  while (column < columns) lines->push_back({'+', after[column++]});
}

std::vector<Line> Compare(std::vector<absl::string_view> before,
                          std::vector<absl::string_view> after) {
  std::vector<Line> lines;
  const auto [first, other] =
      std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  for (auto it = before.begin(); it != first; ++it) lines.push_back({' ', *it});
  before.erase(before.begin(), first);
  after.erase(after.begin(), other);
  std::vector<Line> end;
  while (!before.empty() && !after.empty() && before.back() == after.back()) {
    end.push_back({' ', before.back()});
    before.pop_back();
    after.pop_back();
  }
  AppendMiddle(before, after, &lines);
  lines.insert(lines.end(), end.rbegin(), end.rend());
  return lines;
}

// "12,3" as in a hunk's header; if there are no lines, the number is that of the line before.
std::string RangeText(int first, int count) {
  return count == 1 ? absl::StrCat(first)
                    : absl::StrCat(count == 0 ? first - 1 : first, ",", count);
}

}  // namespace

std::string LineDiff(absl::string_view before, absl::string_view after) {
  const std::vector<Line> lines = Compare(Lines(before), Lines(after));
  const int size = static_cast<int>(lines.size());
  std::string text;
  int old_line = 1, new_line = 1;  // numbers of lines[next]
  for (int next = 0; next < size;) {
    int change = next;
    while (change < size && lines[change].mark == ' ') ++change;
    if (change == size) break;
    // Extends the hunk while the gap to the next change is shorter than the context of both.
    int end = change;
    for (int i = change; i < size && i <= end + 2 * kAround; ++i) {
      if (lines[i].mark != ' ') end = i;
    }
    const int from = std::max(next, change - kAround);
    const int to = std::min(size, end + kAround + 1);
    old_line += from - next;
    new_line += from - next;
    std::string body;
    int old_count = 0, new_count = 0;
    for (int i = from; i < to; ++i) {
      old_count += lines[i].mark != '+';
      new_count += lines[i].mark != '-';
      absl::StrAppend(&body, std::string(1, lines[i].mark), lines[i].text, "\n");
    }
    absl::StrAppend(&text, "@@ -", RangeText(old_line, old_count), " +",
                    RangeText(new_line, new_count), " @@\n", body);
    old_line += old_count;
    new_line += new_count;
    next = to;
  }
  return text;
}

std::string SourcesDiff(const v1::Sources& before, const v1::Sources& after) {
  struct Pair {
    const v1::SourceFile* before = nullptr;
    const v1::SourceFile* after = nullptr;
  };
  std::map<std::string, Pair> files;
  for (const v1::SourceFile& file : before.files()) files[file.path()].before = &file;
  for (const v1::SourceFile& file : after.files()) files[file.path()].after = &file;
  std::string text;
  for (const auto& [path, pair] : files) {
    const std::string hunks = LineDiff(pair.before == nullptr ? "" : pair.before->content(),
                                       pair.after == nullptr ? "" : pair.after->content());
    if (hunks.empty()) continue;
    absl::StrAppend(&text, "--- ", pair.before == nullptr ? "/dev/null" : "a/" + path, "\n+++ ",
                    pair.after == nullptr ? "/dev/null" : "b/" + path, "\n", hunks);
  }
  return text;
}

}  // namespace ksearch

// HunkMatcher: where a change belongs in a file.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "coordinator/proposer/reply/hunk.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

// Bounds the time for any reply to some tenths of a second.
constexpr int64_t kMostWork = 20 << 20;
constexpr size_t kShownLines = 12;
constexpr size_t kMaxShownLine = 160;
constexpr size_t kMostDroppedLines = 2;

absl::string_view Indentation(absl::string_view line) {
  return line.substr(0, std::min(line.size(), line.find_first_not_of(" \t")));
}

bool IsBlank(absl::string_view line) { return absl::StripAsciiWhitespace(line).empty(); }

std::vector<std::string> WithoutBlankEnds(std::vector<std::string> lines) {
  while (!lines.empty() && IsBlank(lines.back())) lines.pop_back();
  const auto first =
      std::find_if(lines.begin(), lines.end(), [](const auto& line) { return !IsBlank(line); });
  lines.erase(lines.begin(), first);
  return lines;
}

std::string Shown(std::vector<std::string>::const_iterator begin,
                  std::vector<std::string>::const_iterator end) {
  std::string text;
  for (size_t i = 0; begin != end && i < kShownLines; ++i, ++begin) {
    absl::StrAppend(&text, "  ", SafeLine(*begin, kMaxShownLine), "\n");
  }
  if (begin != end) absl::StrAppend(&text, "  ... (", end - begin, " more lines)\n");
  return text;
}

}  // namespace

HunkMatcher::HunkMatcher(absl::string_view file) : work_left_(kMostWork) {
  if (file.empty()) return;
  lines_ = absl::StrSplit(file, '\n');
  if (lines_.back().empty()) lines_.pop_back();
}

std::string HunkMatcher::Text() const {
  return lines_.empty() ? "" : absl::StrCat(absl::StrJoin(lines_, "\n"), "\n");
}

absl::StatusOr<std::vector<size_t>> HunkMatcher::Places(const std::vector<std::string>& lines,
                                                        Rule rule) {
  const auto equal = [rule](absl::string_view a, absl::string_view b) {
    switch (rule) {
      case Rule::kExact:
        return a == b;
      case Rule::kTrailing:
        return absl::StripTrailingAsciiWhitespace(a) == absl::StripTrailingAsciiWhitespace(b);
      case Rule::kIndentation:
        return absl::StripAsciiWhitespace(a) == absl::StripAsciiWhitespace(b);
    }
    return false;
  };
  std::vector<size_t> places;
  for (size_t at = 0; at + lines.size() <= lines_.size(); ++at) {
    size_t matched = 0;
    while (matched < lines.size() && equal(lines_[at + matched], lines[matched])) ++matched;
    work_left_ -= static_cast<int64_t>(matched) + 1;
    if (work_left_ < 0) {
      return absl::ResourceExhaustedError(
          "the changes are too many and too long to be looked for: send whole files");
    }
    if (matched == lines.size()) places.push_back(at);
  }
  return places;
}

void HunkMatcher::Replace(size_t at, const std::vector<std::string>& before,
                          const std::vector<std::string>& after, Rule rule) {
  std::vector<std::string> placed = after;
  if (rule == Rule::kIndentation) {
    // The amount by which the first non-blank line is indented too little or too much.
    const auto first =
        std::find_if(before.begin(), before.end(), [](const auto& line) { return !IsBlank(line); });
    if (first != before.end()) {
      const std::string wanted(
          Indentation(lines_[at + static_cast<size_t>(first - before.begin())]));
      const std::string written(Indentation(*first));
      for (std::string& line : placed) {
        if (IsBlank(line)) continue;
        if (line.compare(0, written.size(), written) == 0) {
          line = wanted + line.substr(written.size());
        }
      }
    }
  }
  const auto begin = lines_.begin() + static_cast<std::ptrdiff_t>(at);
  lines_.erase(begin, begin + static_cast<std::ptrdiff_t>(before.size()));
  lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at),
                std::make_move_iterator(placed.begin()), std::make_move_iterator(placed.end()));
  moved_ += static_cast<int64_t>(after.size()) - static_cast<int64_t>(before.size());
}

absl::Status HunkMatcher::Apply(const Hunk& hunk) {
  std::vector<std::string> before = hunk.before;
  std::vector<std::string> after = hunk.after;
  if (WithoutBlankEnds(before).empty()) {
    if (lines_.empty()) {
      lines_ = std::move(after);
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError(
        "a change has no text to find, and its file is not empty: show the lines around it");
  }
  size_t places_found = 0;
  for (size_t dropped = 0;; ++dropped) {
    for (const Rule rule : {Rule::kExact, Rule::kTrailing, Rule::kIndentation}) {
      // Except under the exact rule, blank lines at the ends do not count.
      const bool exact = rule == Rule::kExact;
      const std::vector<std::string> wanted = exact ? before : WithoutBlankEnds(before);
      const std::vector<std::string> placed = exact ? after : WithoutBlankEnds(after);
      if (wanted.empty()) break;
      ASSIGN_OR_RETURN(const std::vector<size_t> places, Places(wanted, rule));
      if (places.empty()) continue;
      size_t at = places[0];
      if (places.size() > 1) {
        if (hunk.line == 0) {
          places_found = places.size();
          break;
        }
        const int64_t said = hunk.line - 1 + moved_ + static_cast<int64_t>(dropped);
        for (const size_t place : places) {
          const auto distance = [&](size_t from) {
            return std::abs(static_cast<int64_t>(from) - said);
          };
          if (distance(place) < distance(at)) at = place;
        }
      }
      Replace(at, wanted, placed, rule);
      return absl::OkStatus();
    }
    // The outermost context lines may be wrong: drop them and try again.
    if (hunk.line == 0 || places_found > 0 || dropped == kMostDroppedLines) break;
    if (before.size() < 3 || after.empty()) break;
    bool shorter = false;
    if (before.front() == after.front()) {
      before.erase(before.begin());
      after.erase(after.begin());
      shorter = true;
    }
    if (before.size() > 1 && !after.empty() && before.back() == after.back()) {
      before.pop_back();
      after.pop_back();
      shorter = true;
    }
    if (!shorter) break;
  }
  return Misfit(hunk.before, places_found);
}

absl::Status HunkMatcher::Misfit(const std::vector<std::string>& before, size_t places) const {
  const std::vector<std::string> wanted = WithoutBlankEnds(before);
  if (places > 1) {
    return absl::FailedPreconditionError(absl::StrCat("these lines are in it ", places,
                                                      " times; add lines around them:\n",
                                                      Shown(wanted.begin(), wanted.end())));
  }
  // The nearest match: the longest run of lines that agree with the beginning of the wanted ones.
  size_t best = 0;
  size_t best_length = 0;
  const size_t most = std::min<size_t>(wanted.size(), 50);
  for (size_t at = 0; at < lines_.size(); ++at) {
    size_t length = 0;
    while (length < most && at + length < lines_.size() &&
           absl::StripAsciiWhitespace(lines_[at + length]) ==
               absl::StripAsciiWhitespace(wanted[length])) {
      ++length;
    }
    if (length > best_length) {
      best_length = length;
      best = at;
    }
  }
  std::string message =
      absl::StrCat("these lines are not in it:\n", Shown(wanted.begin(), wanted.end()));
  if (best_length > 0) {
    const auto from = lines_.begin() + static_cast<std::ptrdiff_t>(best);
    const size_t count = std::min(lines_.size() - best, wanted.size());
    absl::StrAppend(&message, "Line ", best + 1, " is the nearest that it has:\n",
                    Shown(from, from + static_cast<std::ptrdiff_t>(count)));
  }
  return absl::FailedPreconditionError(message);
}

}  // namespace ksearch

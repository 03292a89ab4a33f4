#include "coordinator/proposer/reply/fences.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

constexpr size_t kMaxNamedPathBytes = 120;

absl::string_view FirstLine(absl::string_view text) { return text.substr(0, text.find('\n')); }

absl::string_view LastLine(absl::string_view text) {
  const size_t at = text.rfind('\n');
  return at == absl::string_view::npos ? text : text.substr(at + 1);
}

bool LooksLikePath(absl::string_view word) {
  const size_t dot = word.rfind('.');
  if (dot == absl::string_view::npos || dot == 0 || word.size() > kMaxNamedPathBytes) return false;
  for (char c : word) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) &&
        absl::string_view("_./-").find(c) == absl::string_view::npos) {
      return false;
    }
  }
  const auto holds = [&](const std::vector<absl::string_view>& extensions) {
    return std::find(extensions.begin(), extensions.end(), word.substr(dot)) != extensions.end();
  };
  return std::any_of(Languages().begin(), Languages().end(), [&](const LanguageFacts& language) {
    return holds(language.main_extensions) || holds(language.more_extensions);
  });
}

// A name in the fence's own line ("cpp kernel.cpp", "cpp:kernel.cpp", "cpp title=\"kernel.cpp\"")
// or alone on the line above it ("**kernel.cpp**", "### `kernel.cpp`:").
std::string FencePath(absl::string_view fence_line, absl::string_view line_above) {
  for (absl::string_view word :
       absl::StrSplit(fence_line, absl::ByAnyChar(" \t:=\"'`{},~"), absl::SkipEmpty())) {
    if (LooksLikePath(word)) return std::string(word);
  }
  const std::vector<absl::string_view> words =
      absl::StrSplit(line_above, absl::ByAnyChar(" \t*#`:"), absl::SkipEmpty());
  if (words.size() == 1 && LooksLikePath(words[0])) return std::string(words[0]);
  if (words.size() == 2 && (absl::EqualsIgnoreCase(words[0], "file")) && LooksLikePath(words[1])) {
    return std::string(words[1]);
  }
  return "";
}

// The length of the fence at the beginning of a line; 0 if there is none.
size_t FenceLength(absl::string_view line) {
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return 0;
  const size_t end = line.find_first_not_of(line[0]);
  const size_t length = end == absl::string_view::npos ? line.size() : end;
  return length >= 3 ? length : 0;
}

// The text after the fence in a block's first line, whose run of '`' or '~' is `length` long. In a
// language whose strings cannot contain a fence, a fence is three characters, whatever follows.
absl::string_view BehindFence(absl::string_view line, size_t length,
                              const LanguageFacts& language) {
  if (!language.long_quotes.empty()) return line.substr(length);
  return absl::StripPrefix(absl::StripPrefix(line, "```"), "~~~");
}

// Returns true if a line outside of strings ends the block that the run `opening` began.
bool Closes(absl::string_view line, absl::string_view opening, const LanguageFacts& language) {
  if (language.long_quotes.empty()) return IsBareFence(line);
  return line.size() >= opening.size() && FenceLength(line) == line.size() && line[0] == opening[0];
}

// Follows a program line by line and tells whether a line ends within a string.
class StringTracker {
 public:
  explicit StringTracker(const LanguageFacts& language)
      : long_quotes_(language.long_quotes),
        comment_(absl::StripTrailingAsciiWhitespace(language.line_comment)) {}

  void Reset() { open_ = ""; }
  bool in_string() const { return !open_.empty(); }

  void Take(absl::string_view line) {
    if (long_quotes_.empty()) return;
    for (size_t i = 0; i < line.size();) {
      const absl::string_view rest = line.substr(i);
      if (rest[0] == '\\') {
        i += 2;
      } else if (in_string()) {
        const bool ends = absl::StartsWith(rest, open_);
        i += ends ? open_.size() : 1;
        if (ends) open_ = "";
      } else if (absl::StartsWith(rest, comment_)) {
        return;
      } else {
        i += SkipToken(rest);
      }
    }
  }

 private:
  // For text outside of strings and comments: opens a long string, or steps over a short one.
  size_t SkipToken(absl::string_view rest) {
    for (const absl::string_view quote : long_quotes_) {
      if (absl::StartsWith(rest, quote)) {
        open_ = quote;
        return quote.size();
      }
    }
    if (rest[0] != '"' && rest[0] != '\'') return 1;
    size_t end = 1;
    while (end < rest.size() && rest[end] != rest[0]) end += rest[end] == '\\' ? 2 : 1;
    return end + 1;
  }

  const std::vector<absl::string_view>& long_quotes_;
  const absl::string_view comment_;
  absl::string_view open_;  // the quote that ends the string; empty outside of one
};

// `strings`: a fence within a string of a program does not close a block.
std::vector<Fence> Find(absl::string_view text, const LanguageFacts& language, bool strings,
                        bool* unclosed) {
  std::vector<Fence> fences;
  StringTracker tracker(language);
  absl::string_view line_above;
  absl::string_view opening;  // the open block's run of '`' or '~'
  size_t content_begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t newline = text.find('\n', at);
    const size_t next = newline == absl::string_view::npos ? text.size() : newline + 1;
    const absl::string_view line = absl::StripAsciiWhitespace(text.substr(at, next - at));
    const size_t length = FenceLength(line);
    if (opening.empty() && length > 0) {
      opening = line.substr(0, length);
      content_begin = next;
      tracker.Reset();
      Fence fence;
      const absl::string_view tag = BehindFence(line, length, language);
      fence.tag = absl::AsciiStrToLower(SafeLine(tag.substr(0, tag.find_first_of(" \t:{")), 40));
      fence.path = FencePath(tag, line_above);
      fences.push_back(std::move(fence));
    } else if (!opening.empty()) {
      const bool held = strings && tracker.in_string() && IsProgramTag(fences.back().tag, language);
      if (!held && Closes(line, opening, language)) {
        opening = "";
        fences.back().content = CleanContent(text.substr(content_begin, at - content_begin));
      } else {
        tracker.Take(text.substr(at, next - at));
      }
    }
    if (!line.empty()) line_above = line;
    at = next;
  }
  *unclosed = !opening.empty();
  if (*unclosed) fences.pop_back();
  return fences;
}

}  // namespace

bool IsFenceLine(absl::string_view line) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(line);
  return absl::StartsWith(stripped, "```") || absl::StartsWith(stripped, "~~~");
}

bool IsBareFence(absl::string_view line) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(line);
  return stripped == "```" || stripped == "~~~" || stripped == "````";
}

std::string CleanContent(absl::string_view text) {
  while (true) {
    text = absl::StripTrailingAsciiWhitespace(text);
    while (!text.empty() && absl::StripAsciiWhitespace(FirstLine(text)).empty()) {
      text.remove_prefix(std::min(text.size(), FirstLine(text).size() + 1));
    }
    if (text.empty()) return "";
    if (IsFenceLine(FirstLine(text))) {
      text.remove_prefix(std::min(text.size(), FirstLine(text).size() + 1));
    } else if (IsBareFence(LastLine(text))) {
      text.remove_suffix(LastLine(text).size());
    } else {
      return absl::StrCat(text, "\n");
    }
  }
}

bool IsProgramTag(absl::string_view tag, const LanguageFacts& language) {
  const auto& tags = language.fence_tags;
  return tag.empty() || std::find(tags.begin(), tags.end(), tag) != tags.end();
}

std::string PathInFirstComment(absl::string_view content, const LanguageFacts& language) {
  absl::string_view line = absl::StripAsciiWhitespace(FirstLine(content));
  if (!absl::ConsumePrefix(&line, absl::StripTrailingAsciiWhitespace(language.line_comment))) {
    return "";
  }
  line = absl::StripAsciiWhitespace(line);
  if (absl::StartsWithIgnoreCase(line, "file:")) line = absl::StripAsciiWhitespace(line.substr(5));
  return LooksLikePath(line) ? std::string(line) : "";
}

std::vector<Fence> FindFences(absl::string_view text, const LanguageFacts& language,
                              bool* unclosed) {
  std::vector<Fence> fences = Find(text, language, /*strings=*/true, unclosed);
  // A quote that is never closed, e.g. in an excerpt, must not hide the end of its block.
  return *unclosed && !language.long_quotes.empty()
             ? Find(text, language, /*strings=*/false, unclosed)
             : fences;
}

}  // namespace ksearch

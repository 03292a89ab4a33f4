#include "coordinator/suites/flashinfer/python_outline.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/text_hash.h"
#include "common/utf8.h"
#include "coordinator/suites/flashinfer/python_cursor.h"

namespace ksearch {
namespace {

constexpr int kTabColumns = 8;

char ClosingOf(char opening) { return opening == '(' ? ')' : opening == '[' ? ']' : '}'; }

// Consumes `word` and the blanks behind it.
bool ConsumeWord(absl::string_view* text, absl::string_view word) {
  if (!absl::StartsWith(*text, word)) return false;
  absl::string_view rest = text->substr(word.size());
  if (rest.empty() || (rest[0] != ' ' && rest[0] != '\t')) return false;
  *text = rest.substr(std::min(rest.find_first_not_of(" \t"), rest.size()));
  return true;
}

class Outliner {
 public:
  explicit Outliner(absl::string_view text) : cursor_(text) {}

  absl::StatusOr<PythonOutline> Run() {
    if (absl::StrContains(cursor_.Rest(), '\0')) return Error(1, "has a NUL byte");
    while (!cursor_.AtEnd()) {
      if (line_begins_ && open_.empty()) {
        const absl::Status indented = BeginLine();
        if (!indented.ok()) return indented;
        if (line_begins_) continue;  // nothing but a comment
      }
      const absl::Status token = Next();
      if (!token.ok()) return token;
      if (!outline_.complete) return outline_;
    }
    if (!open_.empty()) {
      return Error(open_.back().line,
                   absl::StrCat("'", std::string(1, open_.back().bracket), "' is never closed"));
    }
    EndLine();
    if (needs_block_) return Error(header_line_, "no indented block follows it");
    return outline_;
  }

 private:
  struct Open {
    char bracket;
    int line;
  };
  // Two widths, of which tabs are eight columns of one and a single column of the other: where they
  // disagree, tabs and blanks are mixed.
  struct Indent {
    int wide = 0;
    int narrow = 0;
  };

  static absl::Status Error(int line, absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
  }

  absl::Status BeginLine() {
    Indent indent;
    for (; !cursor_.AtEnd(); cursor_.Advance()) {
      const char c = cursor_.Peek();
      if (c == ' ') {
        ++indent.wide;
        ++indent.narrow;
      } else if (c == '\t') {
        indent.wide += kTabColumns - indent.wide % kTabColumns;
        ++indent.narrow;
      } else if (c == '\f') {
        indent = {};
      } else {
        break;
      }
    }
    cursor_.SkipComment();
    if (cursor_.AtEnd()) return absl::OkStatus();
    if (cursor_.Peek() == '\n') {
      cursor_.Advance();
      return absl::OkStatus();
    }
    line_begins_ = false;
    last_ = 0;
    if (cursor_.Peek() == '\\') return absl::OkStatus();
    if (indent.wide == 0) NoteFunction();
    return Indented(indent);
  }

  absl::Status Indented(const Indent& indent) {
    const auto mixed = [&] {
      return Error(cursor_.line(), "mixes tabs and blanks in its indentation");
    };
    if (indent.wide > indents_.back().wide) {
      if (indent.narrow <= indents_.back().narrow) return mixed();
      if (!needs_block_) return Error(cursor_.line(), "is indented, and no block begins before it");
      indents_.push_back(indent);
    } else {
      if (needs_block_) return Error(header_line_, "no indented block follows it");
      while (indent.wide < indents_.back().wide) indents_.pop_back();
      if (indent.wide != indents_.back().wide) {
        return Error(cursor_.line(), "its indentation is that of no block around it");
      }
      if (indent.narrow != indents_.back().narrow) return mixed();
    }
    needs_block_ = false;
    return absl::OkStatus();
  }

  void NoteFunction() {
    absl::string_view rest = cursor_.Rest();
    if (!ConsumeWord(&rest, "def")) return;
    size_t length = 0;
    while (length < rest.size() && IsWordByte(rest[length])) ++length;
    outline_.top_level_functions.emplace_back(rest.substr(0, length));
  }

  void EndLine() {
    if (line_begins_) return;
    line_begins_ = true;
    // A line that ends so is the head of a block in all of Python.
    needs_block_ = last_ == ':';
    header_line_ = cursor_.line();
  }

  absl::Status Next() {
    if (cursor_.SkipComment()) return absl::OkStatus();
    const char c = cursor_.Peek();
    if (c == '\n') {
      if (open_.empty()) EndLine();
      cursor_.Advance();
      return absl::OkStatus();
    }
    if (c == '\\') {
      if (!absl::StartsWith(cursor_.Rest(), "\\\n"))
        return Error(cursor_.line(), "a '\\' outside of a string");
      cursor_.Advance(2);
      return absl::OkStatus();
    }
    if (cursor_.AtString()) {
      last_ = c;
      return SkipString();
    }
    if (c == '(' || c == '[' || c == '{') open_.push_back({c, cursor_.line()});
    if (c == ')' || c == ']' || c == '}') {
      if (open_.empty()) {
        return Error(cursor_.line(), absl::StrCat("'", std::string(1, c), "' closes nothing"));
      }
      if (ClosingOf(open_.back().bracket) != c) {
        return Error(cursor_.line(), absl::StrCat("'", std::string(1, c), "' does not close the '",
                                                  std::string(1, open_.back().bracket),
                                                  "' of line ", open_.back().line));
      }
      open_.pop_back();
    }
    if (!absl::ascii_isspace(static_cast<unsigned char>(c))) last_ = c;
    cursor_.Advance();
    return absl::OkStatus();
  }

  absl::Status SkipString() {
    const int first_line = cursor_.line();
    const PythonCursor::StringEnd end = cursor_.SkipString();
    if (end == PythonCursor::StringEnd::kUnclosed) {
      return Error(first_line, "a string is never closed");
    }
    // Where a field is not understood, the whole file counts as right from there on.
    outline_.complete = end == PythonCursor::StringEnd::kClosed;
    return absl::OkStatus();
  }

  PythonCursor cursor_;
  std::vector<Open> open_;
  std::vector<Indent> indents_ = {{}};
  bool line_begins_ = true;
  bool needs_block_ = false;
  int header_line_ = 0;
  char last_ = 0;  // of the line so far, blanks and comments left out
  PythonOutline outline_;
};

}  // namespace

absl::StatusOr<PythonOutline> OutlinePython(absl::string_view text) {
  absl::ConsumePrefix(&text, kByteOrderMark);
  const std::string lines = absl::StrReplaceAll(text, {{"\r\n", "\n"}, {"\r", "\n"}});
  return Outliner(lines).Run();
}

}  // namespace ksearch

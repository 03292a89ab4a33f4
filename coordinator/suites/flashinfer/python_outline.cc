#include "coordinator/suites/flashinfer/python_outline.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/text_hash.h"
#include "common/utf8.h"

namespace ksearch {
namespace {

constexpr int kTabColumns = 8;
constexpr size_t kMaxFieldDepth = 20;

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
  explicit Outliner(std::string text) : text_(std::move(text)) {}

  absl::StatusOr<PythonOutline> Run() {
    if (text_.find('\0') != std::string::npos) return Error(1, "has a NUL byte");
    while (at_ < text_.size()) {
      if (line_begins_ && open_.empty()) {
        const absl::Status indented = BeginLine();
        if (!indented.ok()) return indented;
        if (line_begins_) continue;  // nothing but a comment
      }
      const absl::Status token = Next();
      if (!token.ok()) return token;
      if (gave_up_) {
        outline_.complete = false;
        return outline_;
      }
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

  absl::string_view Rest() const { return absl::string_view(text_).substr(at_); }

  absl::Status BeginLine() {
    Indent indent;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
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
    if (at_ < text_.size() && text_[at_] == '#') at_ += std::min(Rest().find('\n'), Rest().size());
    if (at_ == text_.size()) return absl::OkStatus();
    if (text_[at_] == '\n') {
      ++at_;
      ++line_;
      return absl::OkStatus();
    }
    line_begins_ = false;
    last_ = 0;
    if (text_[at_] == '\\') return absl::OkStatus();
    if (indent.wide == 0) NoteFunction();
    return Indented(indent);
  }

  absl::Status Indented(const Indent& indent) {
    const auto mixed = [&] { return Error(line_, "mixes tabs and blanks in its indentation"); };
    if (indent.wide > indents_.back().wide) {
      if (indent.narrow <= indents_.back().narrow) return mixed();
      if (!needs_block_) return Error(line_, "is indented, and no block begins before it");
      indents_.push_back(indent);
    } else {
      if (needs_block_) return Error(header_line_, "no indented block follows it");
      while (indent.wide < indents_.back().wide) indents_.pop_back();
      if (indent.wide != indents_.back().wide) {
        return Error(line_, "its indentation is that of no block around it");
      }
      if (indent.narrow != indents_.back().narrow) return mixed();
    }
    needs_block_ = false;
    return absl::OkStatus();
  }

  void NoteFunction() {
    absl::string_view rest = Rest();
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
    header_line_ = line_;
  }

  absl::Status Next() {
    const char c = text_[at_];
    if (c == '#') {
      at_ += std::min(Rest().find('\n'), Rest().size());
      return absl::OkStatus();
    }
    if (c == '\n') {
      if (open_.empty()) EndLine();
      ++line_;
      ++at_;
      return absl::OkStatus();
    }
    if (c == '\\') {
      if (!absl::StartsWith(Rest(), "\\\n")) return Error(line_, "a '\\' outside of a string");
      at_ += 2;
      ++line_;
      return absl::OkStatus();
    }
    if (c == '"' || c == '\'') {
      last_ = c;
      return SkipString(0);
    }
    if (c == '(' || c == '[' || c == '{') open_.push_back({c, line_});
    if (c == ')' || c == ']' || c == '}') {
      if (open_.empty()) {
        return Error(line_, absl::StrCat("'", std::string(1, c), "' closes nothing"));
      }
      if (ClosingOf(open_.back().bracket) != c) {
        return Error(line_, absl::StrCat("'", std::string(1, c), "' does not close the '",
                                         std::string(1, open_.back().bracket), "' of line ",
                                         open_.back().line));
      }
      open_.pop_back();
    }
    if (!absl::ascii_isspace(static_cast<unsigned char>(c))) last_ = c;
    ++at_;
    return absl::OkStatus();
  }

  // Returns true if the letters before the quote at at_ say that fields stand in the string.
  bool HasFields() const {
    size_t begin = at_;
    while (begin > 0 && IsWordByte(text_[begin - 1])) --begin;
    const std::string prefix = absl::AsciiStrToLower(text_.substr(begin, at_ - begin));
    return prefix == "f" || prefix == "rf" || prefix == "fr" || prefix == "t" || prefix == "rt" ||
           prefix == "tr";
  }

  absl::Status SkipString(size_t depth) {
    const bool has_fields = HasFields();
    const int first_line = line_;
    const std::string triple(3, text_[at_]);
    const std::string quote =
        absl::StartsWith(Rest(), triple) ? triple : std::string(1, text_[at_]);
    for (at_ += quote.size(); at_ < text_.size() && !gave_up_;) {
      if (absl::StartsWith(Rest(), quote)) {
        at_ += quote.size();
        return absl::OkStatus();
      }
      const char c = text_[at_];
      if (c == '\n' && quote.size() == 1) break;
      if (c == '\n') ++line_;
      if (c == '\\' && at_ + 1 < text_.size()) {
        if (text_[at_ + 1] == '\n') ++line_;
        at_ += 2;
      } else if (c == '{' && has_fields) {
        ++at_;
        if (at_ < text_.size() && text_[at_] == '{') {
          ++at_;
        } else {
          SkipField(quote, depth);
        }
      } else {
        ++at_;
      }
    }
    if (gave_up_) return absl::OkStatus();
    return Error(first_line, "a string is never closed");
  }

  // Skips the rest of a field of an f-string, from behind its '{' to behind its '}'. What may stand
  // there differs between versions of Python: where it is not understood, the whole file counts as
  // right from there on.
  void SkipField(const std::string& quote, size_t depth) {
    if (depth > kMaxFieldDepth) gave_up_ = true;
    int brackets = 0;
    bool in_format = false;
    while (at_ < text_.size() && !gave_up_) {
      const char c = text_[at_];
      if (c == '}' && brackets == 0) {
        ++at_;
        return;
      }
      if (in_format && c == '{') {
        ++at_;
        SkipField(quote, depth + 1);
        continue;
      }
      if (in_format && absl::StartsWith(Rest(), quote)) break;
      if (!in_format && (c == '"' || c == '\'')) {
        if (!SkipString(depth + 1).ok()) break;
        continue;
      }
      if (c == '\\' || (c == '#' && !in_format)) break;
      if (!in_format) {
        if (c == '(' || c == '[' || c == '{') ++brackets;
        if (c == ')' || c == ']' || c == '}') --brackets;
        in_format = c == ':' && brackets == 0;
      }
      if (c == '\n') ++line_;
      ++at_;
    }
    gave_up_ = true;
  }

  const std::string text_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<Open> open_;
  std::vector<Indent> indents_ = {{}};
  bool line_begins_ = true;
  bool needs_block_ = false;
  int header_line_ = 0;
  char last_ = 0;  // of the line so far, blanks and comments left out
  bool gave_up_ = false;
  PythonOutline outline_;
};

}  // namespace

absl::StatusOr<PythonOutline> OutlinePython(absl::string_view text) {
  absl::ConsumePrefix(&text, kByteOrderMark);
  return Outliner(absl::StrReplaceAll(text, {{"\r\n", "\n"}, {"\r", "\n"}})).Run();
}

}  // namespace ksearch

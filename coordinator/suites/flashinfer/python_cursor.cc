#include "coordinator/suites/flashinfer/python_cursor.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/text_hash.h"

namespace ksearch {
namespace {

constexpr size_t kMaxFieldDepth = 20;

}  // namespace

void PythonCursor::Advance(size_t bytes) {
  const absl::string_view passed = Rest().substr(0, bytes);
  line_ += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
  at_ += passed.size();
}

bool PythonCursor::SkipComment() {
  if (AtEnd() || Peek() != '#') return false;
  Advance(std::min(Rest().find('\n'), Rest().size()));
  return true;
}

bool PythonCursor::StringHasFields() const {
  size_t begin = at_;
  while (begin > 0 && IsWordByte(text_[begin - 1])) --begin;
  const std::string prefix = absl::AsciiStrToLower(text_.substr(begin, at_ - begin));
  return prefix == "f" || prefix == "rf" || prefix == "fr" || prefix == "t" || prefix == "rt" ||
         prefix == "tr";
}

PythonCursor::StringEnd PythonCursor::SkipString(size_t depth) {
  const bool has_fields = StringHasFields();
  const absl::string_view rest = Rest();
  const bool triple = absl::StartsWith(rest, std::string(3, Peek()));
  const absl::string_view quote = rest.substr(0, triple ? 3 : 1);
  Advance(quote.size());
  while (!AtEnd()) {
    if (absl::StartsWith(Rest(), quote)) {
      Advance(quote.size());
      return StringEnd::kClosed;
    }
    const char c = Peek();
    if (c == '\n' && !triple) break;
    if (c == '\\') {
      Advance(2);
    } else if (has_fields && absl::StartsWith(Rest(), "{{")) {
      Advance(2);
    } else if (has_fields && c == '{') {
      Advance();
      if (!SkipField(quote, depth)) return StringEnd::kNotUnderstood;
    } else {
      Advance();
    }
  }
  return StringEnd::kUnclosed;
}

bool PythonCursor::SkipField(absl::string_view quote, size_t depth) {
  if (depth > kMaxFieldDepth) return false;
  int brackets = 0;
  bool in_format = false;
  while (!AtEnd()) {
    const char c = Peek();
    if (c == '}' && brackets == 0) {
      Advance();
      return true;
    }
    if (in_format && c == '{') {
      Advance();
      if (!SkipField(quote, depth + 1)) return false;
      continue;
    }
    if (in_format && absl::StartsWith(Rest(), quote)) return false;
    if (!in_format && AtString()) {
      if (SkipString(depth + 1) != StringEnd::kClosed) return false;
      continue;
    }
    if (c == '\\' || (c == '#' && !in_format)) return false;
    if (!in_format) {
      if (c == '(' || c == '[' || c == '{') ++brackets;
      if (c == ')' || c == ']' || c == '}') --brackets;
      in_format = c == ':' && brackets == 0;
    }
    Advance();
  }
  return false;
}

}  // namespace ksearch

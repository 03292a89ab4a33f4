#include "coordinator/suites/flashinfer/python_parameters.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

// The position after the comment or string that begins at `at`; `at` if none does.
size_t Skip(absl::string_view text, size_t at) {
  if (text[at] == '#') {
    const size_t end = text.find('\n', at);
    return end == absl::string_view::npos ? text.size() : end;
  }
  if (text[at] != '"' && text[at] != '\'') return at;
  const std::string triple(3, text[at]);
  const absl::string_view quote =
      absl::StartsWith(text.substr(at), triple) ? absl::string_view(triple) : text.substr(at, 1);
  for (size_t i = at + quote.size(); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (absl::StartsWith(text.substr(i), quote)) {
      return i + quote.size();
    }
  }
  return text.size();
}

}  // namespace

std::optional<PythonParameters> ParametersOf(absl::string_view text, absl::string_view name) {
  const std::string start = absl::StrCat("def ", name, "(");
  size_t begin = 0;
  if (!absl::StartsWith(text, start)) {
    begin = text.find(absl::StrCat("\n", start));
    if (begin == absl::string_view::npos) return std::nullopt;
    ++begin;
  }
  PythonParameters parameters;
  int depth = 0;
  bool any = false;
  for (size_t i = begin + start.size(); i < text.size();) {
    if (const size_t behind = Skip(text, i); behind != i) {
      any = any || text[i] != '#';
      i = behind;
      continue;
    }
    const char c = text[i++];
    if (c == ')' && depth == 0) {
      parameters.count += any ? 1 : 0;
      return parameters;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 0 && (c == '*' || c == '=' || c == '/')) parameters.plain = false;
    if (c == ',' && depth == 0) {
      ++parameters.count;
      any = false;
    } else if (!absl::ascii_isspace(static_cast<unsigned char>(c))) {
      any = true;
    }
  }
  return std::nullopt;
}

}  // namespace ksearch

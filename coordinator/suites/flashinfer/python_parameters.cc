#include "coordinator/suites/flashinfer/python_parameters.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/suites/flashinfer/python_cursor.h"

namespace ksearch {

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
  // The state of the current parameter: whether it has a name and a default, and what precedes the
  // name, which is '*', '**' or '/'.
  bool any = false, has_default = false;
  std::string stars;
  const auto end_parameter = [&] {
    if (any) {
      ++parameters.count;
      parameters.without_default += has_default ? 0 : 1;
      parameters.gathers |= !stars.empty();
    }
    any = has_default = false;
    stars.clear();
  };
  PythonCursor cursor(text, begin + start.size());
  while (!cursor.AtEnd()) {
    if (cursor.SkipComment()) continue;
    if (cursor.AtString()) {
      if (cursor.SkipString() != PythonCursor::StringEnd::kClosed) return std::nullopt;
      any = true;
      continue;
    }
    const char c = cursor.Peek();
    cursor.Advance();
    if (c == ')' && depth == 0) {
      end_parameter();
      return parameters;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 0 && (c == '*' || c == '=' || c == '/')) parameters.plain = false;
    if (c == ',' && depth == 0) {
      end_parameter();
    } else if (depth == 0 && !any && (c == '*' || c == '/')) {
      stars += c;  // a lone '*' or '/' is not a parameter
    } else if (c == '=' && depth == 0) {
      has_default = true;
    } else if (!absl::ascii_isspace(static_cast<unsigned char>(c))) {
      any = true;
    }
  }
  return std::nullopt;
}

}  // namespace ksearch

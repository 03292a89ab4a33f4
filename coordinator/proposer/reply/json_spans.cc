#include "coordinator/proposer/reply/json_spans.h"

#include <algorithm>

namespace ksearch {
namespace {

// Follows string state through a JSON text, one character at a time.
class StringTracker {
 public:
  // Returns true if `c` belongs to a string or delimits one.
  bool Inside(char c) {
    if (!in_string_) {
      in_string_ = c == '"';
      return in_string_;
    }
    if (c == '\n') {
      in_string_ = escaped_ = false;
      return false;
    }
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
    return true;
  }

 private:
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace

JsonSpans FindJsonSpans(absl::string_view text) {
  JsonSpans found;
  std::vector<size_t> open;
  StringTracker tracker;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (open.empty()) {
      // Quotes mean nothing outside an object.
      if (c == '{') {
        open.push_back(i);
        tracker = StringTracker();
      }
      continue;
    }
    if (tracker.Inside(c)) continue;
    if (c == '{') {
      open.push_back(i);
    } else if (c == '}') {
      found.spans.push_back({open.back(), i + 1});
      open.pop_back();
    }
  }
  if (!open.empty()) found.first_unclosed = open.front();
  std::reverse(found.spans.begin(), found.spans.end());
  return found;
}

int JsonDepth(absl::string_view text) {
  int depth = 0;
  int deepest = 0;
  StringTracker tracker;
  for (char c : text) {
    if (tracker.Inside(c)) continue;
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
  }
  return deepest;
}

}  // namespace ksearch

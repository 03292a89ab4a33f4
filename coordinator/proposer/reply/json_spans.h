#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_JSON_SPANS_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_JSON_SPANS_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch {

// A brace-balanced part of a text: [begin, end), text[begin] == '{', text[end - 1] == '}'.
struct JsonSpan {
  size_t begin = 0;
  size_t end = 0;
};

struct JsonSpans {
  // Every balanced part, including nested ones, latest end first (so that an outer one comes before
  // those it contains).
  std::vector<JsonSpan> spans;
  // Position of the first brace that is never closed; npos if none.
  size_t first_unclosed = absl::string_view::npos;
};

// Scans `text` once, in linear time. Strings and escapes inside braces are skipped; a string ends
// at a line break at the latest (JSON allows none in it), so that a stray quote in prose affects
// only its own line.
JsonSpans FindJsonSpans(absl::string_view text);

// Returns the nesting depth of braces and brackets in a text that is read as JSON.
int JsonDepth(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_JSON_SPANS_H_

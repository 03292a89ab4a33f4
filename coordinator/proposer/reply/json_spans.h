#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_JSON_SPANS_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_JSON_SPANS_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch {

// A brace-balanced stretch of a text: [begin, end), text[begin] == '{', text[end - 1] == '}'.
struct JsonSpan {
  size_t begin = 0;
  size_t end = 0;
};

struct JsonSpans {
  // Every balanced stretch, nested ones too, latest end first (so an outer one comes before what it
  // holds).
  std::vector<JsonSpan> spans;
  // Position of the first brace that is never closed; npos if none.
  size_t first_unclosed = absl::string_view::npos;
};

// One pass over `text`, linear in its size. Strings and escapes inside braces are skipped; a string
// ends at a line break at the latest (JSON allows none in it), so a stray quote in prose upsets
// its own line only.
JsonSpans FindJsonSpans(absl::string_view text);

// How deep braces and brackets nest in a text that is taken for JSON.
int JsonDepth(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_JSON_SPANS_H_

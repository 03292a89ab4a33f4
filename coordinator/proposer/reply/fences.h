#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_FENCES_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_FENCES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/language.h"

namespace ksearch {

// One fenced block of a text.
struct Fence {
  std::string tag;   // language word, lower case
  std::string path;  // empty = unnamed
  std::string content;
};

// Whether a block with this tag may be a program in `language`: an untagged one may.
bool IsProgramTag(absl::string_view tag, const LanguageFacts& language);

// A file name alone in a comment on a program's first line ("# kernel.py"); empty if there is none.
std::string PathInFirstComment(absl::string_view content, const LanguageFacts& language);

// The fenced blocks, in order. A block ends at a bare fence; in a language whose strings may span
// lines, at one of the same character that is at least as long as its first and, in a program, not
// within such a string. Sets `unclosed` when the text ends within a block, which is then left out.
// Linear in the text.
std::vector<Fence> FindFences(absl::string_view text, const LanguageFacts& language,
                              bool* unclosed);

bool IsFenceLine(absl::string_view line);
// True for a fence with nothing behind it: it may close a block.
bool IsBareFence(absl::string_view line);
// `text` without blank lines and fences around it, however often they are nested, and with one line
// end behind it; empty if nothing is left.
std::string CleanContent(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_FENCES_H_

#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_FENCES_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_FENCES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/language.h"

namespace ksearch {

// One fenced block of a text.
struct Fence {
  std::string tag;   // language tag in lower case
  std::string path;  // empty: no name
  std::string content;
};

// Returns true if a block with this tag may be a program in `language`: an untagged one may.
bool IsProgramTag(absl::string_view tag, const LanguageFacts& language);

// Returns the file name that a comment on the program's first line consists of ("# kernel.py");
// empty if there is none.
std::string PathInFirstComment(absl::string_view content, const LanguageFacts& language);

// Returns the fenced blocks in order. A block ends at a bare fence; in a language whose strings may
// span lines, at a bare fence of the same character that is at least as long as the opening one
// and, in a program, not within such a string. Sets `unclosed` if the text ends within a block,
// which is then omitted. Takes linear time.
std::vector<Fence> FindFences(absl::string_view text, const LanguageFacts& language,
                              bool* unclosed);

bool IsFenceLine(absl::string_view line);
// Returns true for a fence with nothing after it, which may close a block.
bool IsBareFence(absl::string_view line);
// Removes blank lines and fences around `text`, however deeply nested, and ends it with one
// newline; empty if nothing is left.
std::string CleanContent(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_FENCES_H_

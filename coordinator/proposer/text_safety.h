#ifndef KSEARCH_COORDINATOR_PROPOSER_TEXT_SAFETY_H_
#define KSEARCH_COORDINATOR_PROPOSER_TEXT_SAFETY_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace ksearch {

// The part of a text that is kept when it is shortened.
enum class Keep { kHead, kTail, kBothEnds };

// Shortens `text` to at most `max_bytes` bytes, with a marker line that says how many characters
// are missing. Never splits a UTF-8 character; cuts at the end of a line if one is near. Unchanged
// if it fits; empty if the limit is too small for the marker.
std::string Shortened(absl::string_view text, size_t max_bytes, Keep keep);

// Makes untrusted text safe for one line of a message: control characters and invalid UTF-8 become
// '?', line breaks become a space, carriage returns are removed, and text longer than `max_bytes`
// ends in "...".
std::string SafeLine(absl::string_view text, size_t max_bytes);

// The same for text of several lines: line breaks and tabs are kept, and nothing is truncated.
std::string SafeText(absl::string_view text);

bool IsValidUtf8(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_TEXT_SAFETY_H_

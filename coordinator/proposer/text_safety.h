#ifndef KSEARCH_COORDINATOR_PROPOSER_TEXT_SAFETY_H_
#define KSEARCH_COORDINATOR_PROPOSER_TEXT_SAFETY_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace ksearch {

// Which part of a text survives when it must shrink.
enum class Keep { kHead, kTail, kBothEnds };

// `text` in at most `max_bytes` bytes, with a marker line that says how many characters are gone.
// Never splits a UTF-8 character; cuts at line ends where one is near. Unchanged if it fits; a
// limit too small for the marker gives an empty text.
std::string Shortened(absl::string_view text, size_t max_bytes, Keep keep);

// Untrusted text made fit for one line of a message: control characters and bytes that are not
// UTF-8 become '?' (line breaks a space, carriage returns nothing), longer than `max_bytes` ends in
// "...".
std::string SafeLine(absl::string_view text, size_t max_bytes);

// Untrusted text of several lines: as SafeLine, but line breaks and tabs stay and nothing is cut.
std::string SafeText(absl::string_view text);

bool IsValidUtf8(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_TEXT_SAFETY_H_

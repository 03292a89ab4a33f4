#ifndef KSEARCH_COORDINATOR_WORLD_MODEL_TEXT_H_
#define KSEARCH_COORDINATOR_WORLD_MODEL_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace ksearch {

// At most `max_bytes` of `text`, never through a UTF-8 character; "..." marks a cut.
std::string CutText(absl::string_view text, size_t max_bytes);

// The same on one line: runs of white space become one space.
std::string OneLine(absl::string_view text, size_t max_bytes);

// The published system's cut: the first max_bytes - 40, a marker, the last 20.
std::string CutMiddle(absl::string_view text, size_t max_bytes);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_WORLD_MODEL_TEXT_H_

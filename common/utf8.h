#ifndef KSEARCH_COMMON_UTF8_H_
#define KSEARCH_COMMON_UTF8_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace ksearch {

// Length of the longest beginning of `text` that is UTF-8.
size_t ValidUtf8Bytes(absl::string_view text);

// The same of a text that has no NUL, either: source text.
size_t ValidSourceBytes(absl::string_view text);

// What some programs put before UTF-8 text.
inline constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";

// `bytes` with '?' in place of every byte that is not UTF-8.
std::string AsUtf8(absl::string_view bytes);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_UTF8_H_

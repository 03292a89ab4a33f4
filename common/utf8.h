#ifndef KSEARCH_COMMON_UTF8_H_
#define KSEARCH_COMMON_UTF8_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace ksearch {

// Length of the longest beginning of `text` that is UTF-8.
size_t ValidUtf8Bytes(absl::string_view text);

// `bytes` with '?' in place of every byte that is not UTF-8.
std::string AsUtf8(absl::string_view bytes);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_UTF8_H_

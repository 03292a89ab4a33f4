#ifndef KSEARCH_COMMON_CPP_KEYWORD_H_
#define KSEARCH_COMMON_CPP_KEYWORD_H_

#include "absl/strings/string_view.h"

namespace ksearch {

// Returns true if `name` is reserved in C++20 (ISO/IEC 14882:2020, [lex.key]): a keyword or an
// alternative token. No program can use it as the name of a variable or a field.
bool IsCppKeyword(absl::string_view name);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_CPP_KEYWORD_H_

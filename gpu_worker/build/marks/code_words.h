#ifndef KSEARCH_GPU_WORKER_BUILD_MARKS_CODE_WORDS_H_
#define KSEARCH_GPU_WORKER_BUILD_MARKS_CODE_WORDS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch {

// One word of C++ text as the preprocessor sees it.
struct CodeWord {
  enum class Kind { kName, kText, kOther };
  Kind kind = Kind::kOther;
  std::string word;  // for a string literal, the text between the quotes as written
  int line = 1;
};

// Returns the names, string literals and single other characters of `code`, without comments,
// numbers and character literals. Lines that end in a backslash are joined. Accepts any text: what
// is not C++ gives some words.
std::vector<CodeWord> CodeWords(absl::string_view code);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_MARKS_CODE_WORDS_H_

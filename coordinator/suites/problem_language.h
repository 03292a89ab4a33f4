#ifndef KSEARCH_COORDINATOR_SUITES_PROBLEM_LANGUAGE_H_
#define KSEARCH_COORDINATOR_SUITES_PROBLEM_LANGUAGE_H_

#include "common/language.h"

namespace ksearch {

// The language of the suites' own programs: references, and files with PyTorch modules.
inline const LanguageFacts& ProblemLanguage() { return *FindLanguage(absl::string_view("python")); }

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_PROBLEM_LANGUAGE_H_

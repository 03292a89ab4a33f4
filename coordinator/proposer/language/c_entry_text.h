#ifndef KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_C_ENTRY_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_C_ENTRY_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/proposer/language/language_text.h"

namespace ksearch {

// LanguageText::Words, Entry and EntryPoint of languages whose entry is the C function of the
// task's header. `more_arguments` are appended to the parameters, e.g. ", cudaStream_t stream".
LanguageWords CWords(absl::string_view planning);
std::string CEntryText(absl::string_view more_arguments);
std::string CEntryPointText(absl::string_view more_arguments, const std::string& kernel_header);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_LANGUAGE_C_ENTRY_TEXT_H_

#ifndef KSEARCH_COORDINATOR_MEMORY_INTENT_WORDS_H_
#define KSEARCH_COORDINATOR_MEMORY_INTENT_WORDS_H_

#include "absl/strings/string_view.h"
#include "proto/memory.pb.h"

namespace ksearch {

// Classifies a change by the words that a model used for it: returns the intent of a closed
// vocabulary whose terms occur most often. Words of the title count three times. Unspecified if no
// term occurs. Reads at most 4 KiB of each text and keeps nothing of them. A pure function.
v1::IntentKind IntentIn(absl::string_view title, absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_MEMORY_INTENT_WORDS_H_

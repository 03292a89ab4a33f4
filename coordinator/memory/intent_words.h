#ifndef KSEARCH_COORDINATOR_MEMORY_INTENT_WORDS_H_
#define KSEARCH_COORDINATOR_MEMORY_INTENT_WORDS_H_

#include "absl/strings/string_view.h"
#include "proto/memory.pb.h"

namespace ksearch {

// What a model's words say that a change is meant to do, in one word of a closed vocabulary: that
// whose terms they use most. Words of the title count three times. Unspecified if none is used. At
// most 4 KiB of each text are looked at, and nothing of them is kept. A pure function.
v1::IntentKind IntentIn(absl::string_view title, absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_MEMORY_INTENT_WORDS_H_

#ifndef KSEARCH_COMMON_MEMORY_WORDS_H_
#define KSEARCH_COMMON_MEMORY_WORDS_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/config.pb.h"
#include "proto/memory.pb.h"

namespace ksearch {

// The closed vocabularies of measured gains, as people, models and prompts read and write them.

// "memory bandwidth"; "not known".
std::string BottleneckWord(v1::Bottleneck bottleneck);
// "shared memory"; "other".
std::string IntentWord(v1::IntentKind intent);

// Returns the value that `text` names, ignoring case, with '_' or '-' for spaces; nullopt if `text`
// names none.
std::optional<v1::Bottleneck> BottleneckNamed(absl::string_view text);
std::optional<v1::IntentKind> IntentNamed(absl::string_view text);

// All words, in the order of their numbers, joined with ", ".
std::string BottleneckWords();
std::string IntentWords();

// "off", "read", "read-write".
std::string MemoryModeWord(v1::MemoryMode mode);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_MEMORY_WORDS_H_

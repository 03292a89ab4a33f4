#ifndef KSEARCH_COORDINATOR_PROPOSER_MEMORY_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_MEMORY_TEXT_H_

#include <string>

#include "coordinator/proposer/prompt.h"

namespace ksearch {

// Gains that earlier searches measured for kinds of changes, one line each with its counts.
// Contains only numbers and words of closed vocabularies. Empty if nothing is known, and in preset
// paper. A pure function.
std::string MemoryText(const PromptFacts& facts);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_MEMORY_TEXT_H_

#ifndef KSEARCH_COORDINATOR_PROPOSER_MEMORY_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_MEMORY_TEXT_H_

#include <string>

#include "coordinator/proposer/prompt.h"

namespace ksearch {

// What earlier searches measured of kinds of changes, a line each with its counts: numbers and
// words of closed vocabularies alone. Empty if nothing is known, and in preset paper. A pure
// function.
std::string MemoryText(const PromptFacts& facts);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_MEMORY_TEXT_H_

#ifndef KSEARCH_COORDINATOR_SEARCH_CONFIRMATION_H_
#define KSEARCH_COORDINATOR_SEARCH_CONFIRMATION_H_

#include <string>
#include <vector>

#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// What a search learns from the end of a confirmation. `findings`: what was found wrong, in words
// that models may read.
//
// Refused is a program that failed, or is suspicious, or is certainly slower than its rival
// somewhere (MIXED, or WORSE with a held-out workload that is certainly slower): it passed its
// screening, and must be repaired before anything is built on it. One that is sound and merely not
// faster is not refused.
v1::ConfirmedProgram ReadConfirmation(const Confirmation& confirmation,
                                      const std::vector<std::string>& findings);

// "refused by its confirmation: ...", or by its examination, on one line of at most 400 bytes, for
// lessons and events.
std::string RefusalLine(const v1::ConfirmedProgram& confirmed);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_CONFIRMATION_H_

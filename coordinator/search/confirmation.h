#ifndef KSEARCH_COORDINATOR_SEARCH_CONFIRMATION_H_
#define KSEARCH_COORDINATOR_SEARCH_CONFIRMATION_H_

#include <string>
#include <vector>

#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// What a search learns from a confirmation that has ended. `findings` describes the errors that
// were found, in words that models may read.
//
// A program is refused if it failed, is suspicious, or is certainly slower than its rival on some
// workload (MIXED, or WORSE with a held-out workload that is certainly slower). Although it passed
// its screening, it must be repaired before anything is built on it. A correct program that is
// merely not faster is not refused.
v1::ConfirmedProgram ReadConfirmation(const Confirmation& confirmation,
                                      const std::vector<std::string>& findings);

// "refused by its confirmation: ...", or by its examination, on one line of at most 400 bytes, for
// lessons and events.
std::string RefusalLine(const v1::ConfirmedProgram& confirmed);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_CONFIRMATION_H_

#ifndef KSEARCH_COORDINATOR_PROPOSER_CONFIRMATION_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_CONFIRMATION_TEXT_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"
#include "proto/search_state.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// The parts of a confirmation that models may read. Held-out workloads are neither named nor sized;
// only the range of sizes that they lie in is described. Pure functions.

// Returns the errors that were found, most informative first, at most 8 printable lines of at most
// 400 bytes each: findings of compute-sanitizer with kernel and source line; the failed workload or
// input variant, and how it failed; reasons for suspicion; where the program is certainly slower
// than `rival_id`. Empty if there are none.
std::vector<std::string> ConfirmationFindings(const v1::Task& task, const v1::JobResult& result,
                                              const std::string& rival_id);

// The prompt's section about a confirmation.
std::string ConfirmationText(const v1::ConfirmedProgram& confirmed);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_CONFIRMATION_TEXT_H_

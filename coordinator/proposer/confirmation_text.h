#ifndef KSEARCH_COORDINATOR_PROPOSER_CONFIRMATION_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_CONFIRMATION_TEXT_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"
#include "proto/search_state.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// What models may read of a confirmation. Held-out workloads are neither named nor sized; the
// range of sizes they lie in is described in words. Pure functions.

// What was found wrong, most telling first, at most 8 printable lines of at most 400 bytes each:
// what compute-sanitizer found, with kernel and source line; which workload or input variant failed
// and how; reasons for distrust; where the program is certainly slower than `rival_id`. Empty if
// nothing was.
std::vector<std::string> ConfirmationFindings(const v1::Task& task, const v1::JobResult& result,
                                              const std::string& rival_id);

// The prompt's section about it.
std::string ConfirmationText(const v1::ConfirmedProgram& confirmed);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_CONFIRMATION_TEXT_H_

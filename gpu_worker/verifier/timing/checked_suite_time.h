#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_CHECKED_SUITE_TIME_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_CHECKED_SUITE_TIME_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/ending.h"
#include "gpu_worker/verifier/dialogue/workload_session.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Returns the reference's answers for these variants. The reference's runner has ended when it
// returns.
using AnswerVariants =
    std::function<absl::StatusOr<OracleEntries>(const std::vector<int64_t>& variants)>;

// Times the session's program as SuiteClock.checked says: every call gets its own inputs, and its
// outputs are judged. Outputs are kept until memory for them runs out, and are then judged together
// while the program is stopped. Each call is a trial in *verdict. INCORRECT at the first call that
// is wrong by ksearch's own rules; *time is empty unless every call is right by both. `limits` is
// read again for each call, since its deadline may move while `answer` runs.
absl::StatusOr<Ending> TimeCheckedAsSuite(WorkloadSession& session, const v1::SuiteClock& clock,
                                          const WorkloadSession::Limits& limits,
                                          const AnswerVariants& answer, v1::SuiteTime* time,
                                          v1::SuiteVerdict* verdict);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_CHECKED_SUITE_TIME_H_

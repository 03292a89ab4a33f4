#ifndef KSEARCH_GPU_WORKER_VERIFIER_TRUSTED_PROGRAMS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TRUSTED_PROGRAMS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/verifier/timing/bench.h"

namespace ksearch {

// Runs the correctness gate on every case for a program that a candidate is compared with, before
// the candidate is loaded. A failure then is the program's own fault; a later failure next to a
// candidate is not. `what` names the program in messages, e.g. "the baseline"; they contain its
// exceptions' messages if `is_tasks_own`, which is false for a rival. TaskFault
// (common/task_fault.h): it does not load, fails or is wrong, or `deadline` passes between cases.
// Other errors are the machine's.
absl::Status TryTrustedProgram(Bench& bench, const ProgramImage& program, absl::string_view what,
                               bool is_tasks_own,
                               const std::vector<std::shared_ptr<const WorkloadCase>>& cases,
                               const std::vector<OracleEntries>& oracles, absl::Time deadline);

// A TaskFault once `deadline`, the end of kTrustedTime, has passed.
absl::Status CheckTrustedTime(const Clock& clock, absl::Time deadline);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TRUSTED_PROGRAMS_H_

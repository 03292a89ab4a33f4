#include "gpu_worker/verifier/stages/gate.h"

#include <memory>

#include "common/status_macros.h"
#include "gpu_worker/verifier/checker.h"
#include "gpu_worker/verifier/hidden_check.h"

namespace ksearch {

absl::Status CheckWorkloads(RunnerLink& link, JudgedJob* job) {
  size_t done = 0;
  for (const size_t i : SmallestFirst(job->cases)) {
    Report(job->progress, "check", done++, job->cases.size());
    Ending ending;
    ASSIGN_OR_RETURN(job->results[i],
                     CheckWorkload(job->bench, link, job->cases[i], job->oracles[i], job->trials[i],
                                   job->limits, &ending));
    if (ending.passed()) continue;
    // The first is the job's.
    if (job->verdict.outcome() == v1::OUTCOME_PASSED) FailWorkload(ending, i, job);
    if (!job->plan.every_workload() || !IsVerdictOnACall(ending)) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status CheckHiddenCases(RunnerLink& link, JudgedJob* job) {
  size_t done = 0;
  // On processors, like those of the comparison, a process that has seen no gate.
  std::unique_ptr<RunnerLink> ungated;
  for (const AnsweredHiddenCase& hidden : job->hidden) {
    Report(job->progress, "hidden", done++, job->hidden.size());
    const bool like_timed = IsLikeTimed(job->bench, hidden);
    Ending ending;
    if (like_timed && ungated == nullptr) {
      ASSIGN_OR_RETURN(ungated, StartCandidate(*job));
      ending = LoadCandidate(*ungated, *job);
    }
    if (ending.passed()) {
      ASSIGN_OR_RETURN(
          ending, CheckHiddenCase(job->bench, like_timed ? *ungated : link, hidden, job->limits));
    }
    if (ending.passed()) continue;
    FailWorkload(ending, hidden.index, job);
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace ksearch

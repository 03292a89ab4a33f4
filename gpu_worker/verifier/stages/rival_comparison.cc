#include "gpu_worker/verifier/stages/rival_comparison.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/measure_defaults.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/stages/suspects.h"
#include "gpu_worker/verifier/timing/confirmation.h"
#include "gpu_worker/verifier/timing/statistics.h"

namespace ksearch {

absl::Status CompareWithRivals(JudgedJob* job) {
  const v1::VerifierRequest& request = job->request;
  std::vector<ConfirmationCase> cases;
  for (size_t i = 0; i < job->cases.size(); ++i) {
    cases.push_back({job->cases[i], job->oracles[i], Floor(*job, i), {}});
  }
  for (const AnsweredHiddenCase& hidden : job->hidden) {
    if (hidden.remaps) continue;
    cases[hidden.index].hidden.push_back({hidden.name, hidden.workload, hidden.oracles});
  }
  Confirmation confirmation(job->bench, job->plan, WithDefaults(request.job().limits()),
                            job->limits, request.task().objective());
  for (int r = 0; r < request.rivals_size(); ++r) {
    ASSIGN_OR_RETURN(const ProgramImage rival, ProgramImage::Open(request.rivals(r)));
    const int launches = job->plan.launches();
    auto made = confirmation.Compare(
        *job->candidate, rival, request.job().rivals(r).has_sources(), cases, [&](int launch) {
          Report(job->progress, "confirm", static_cast<size_t>(r * launches + launch),
                 static_cast<size_t>(request.rivals_size() * launches));
        });
    if (!made.ok()) return FaultOf(made.status(), request.job().rivals(r));
    ConfirmationResult compared = *std::move(made);
    if (!compared.ending.passed()) {
      FailWorkload(compared.ending, compared.failed_case, job);
      if (compared.ending.outcome == v1::OUTCOME_TASK_ERROR) {
        job->verdict.set_at_fault(request.job().rivals(r).rival_id());
      }
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(JudgeSuspects(compared.suspects, job));
    if (job->verdict.outcome() != v1::OUTCOME_PASSED) return absl::OkStatus();
    const std::string& rival_id = request.job().rivals(r).rival_id();
    compared.comparison.set_rival_id(rival_id);
    *job->verdict.add_comparisons() = std::move(compared.comparison);
    for (size_t i = 0; i < cases.size(); ++i) {
      v1::WorkloadResult& result = job->results[i];
      result.set_buffer_sets(confirmation.Sets(*job->cases[i]));
      result.set_audit_ratio(std::max(result.audit_ratio(), compared.audit_ratio[i]));
      *result.mutable_candidate() = Summarize(compared.candidate_us[i]);
      if (rival_id == kBaselineRival) *result.mutable_baseline() = Summarize(compared.rival_us[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace ksearch

#include "gpu_worker/verifier/stages/suspects.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/rng.h"
#include "common/status_macros.h"
#include "common/task_fault.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/judges/token_draws.h"
#include "gpu_worker/verifier/tensors/output_judge.h"

namespace ksearch {
namespace {

// A sampler that draws likely tokens in timed calls alone gives none that may not be drawn. Calls
// that were kept because they looked like others have likelier tokens than most.
absl::Status JudgeDraws(const Suspects& suspects, JudgedJob* job) {
  Rng rng(RandomUint64());
  TokenDraws draws;
  size_t last = 0;
  for (const auto& [index, suspect] : suspects) {
    const WorkloadCase& workload = *job->cases[index];
    if (workload.suite_rule().rule() != v1::SuiteRule::SAMPLES) return absl::OkStatus();
    if (suspect.repeated || suspect.late) continue;
    RETURN_IF_ERROR(draws.Add(workload, suspect.variant, *suspect.outputs, kTimedDrawRows, &rng));
    last = index;
  }
  const std::string fault =
      draws.Fault(job->request.task().suite_rule().sampling().most_distance());
  if (fault.empty()) return absl::OkStatus();
  FailWorkload({v1::OUTCOME_INCORRECT, absl::StrCat("in timed calls: ", fault)}, last, job);
  return absl::OkStatus();
}

}  // namespace

absl::Status JudgeSuspects(const Suspects& suspects, JudgedJob* job) {
  if (suspects.empty()) return absl::OkStatus();
  std::vector<std::vector<int64_t>> variants(job->cases.size());
  for (const auto& [index, suspect] : suspects) variants[index].push_back(suspect.variant);
  std::vector<OracleEntries> oracles(job->cases.size());
  const auto answer = [&]() -> absl::Status {
    for (size_t i = 0; i < variants.size(); ++i) {
      if (variants[i].empty()) continue;
      ASSIGN_OR_RETURN(oracles[i],
                       job->bench.oracle().GetOnce(*job->reference, job->cases[i], variants[i]));
    }
    job->bench.oracle().Rest();
    return absl::OkStatus();
  };
  absl::Status answered = OffTheClock(job, answer);
  // The reference was right on other variants before the candidate was there, which is gone by now.
  // Once may be an accident.
  if (IsTaskFault(answered)) answered = OffTheClock(job, answer);
  RETURN_IF_ERROR(answered);
  for (const auto& [index, suspect] : suspects) {
    const WorkloadCase& workload = *job->cases[index];
    const OracleEntry& oracle = *oracles[index].at(suspect.variant);
    OutputComparison compared =
        workload.judge() != nullptr
            ? workload.judge()->Judge(workload, suspect.variant, *suspect.outputs, *oracle.outputs)
            : JudgeOutputs(workload, suspect.outputs->CompareWith(workload, *oracle.outputs));
    if (workload.judge() != nullptr) {
      RequireFinite(workload, *suspect.outputs, *oracle.outputs, &compared);
    }
    if (compared.right) continue;
    Ending ending = {v1::OUTCOME_INCORRECT, absl::StrCat("in a timed call: ", compared.message)};
    if (suspect.late) ending.message = absl::StrCat(kLateInputs, compared.message);
    if (suspect.repeated) {
      ending = {v1::OUTCOME_CHEAT, absl::StrCat(kStaleOutput, compared.message)};
    }
    FailWorkload(ending, index, job);
    return absl::OkStatus();
  }
  return JudgeDraws(suspects, job);
}

}  // namespace ksearch

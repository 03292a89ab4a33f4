#include "gpu_worker/verifier/stages/sanitizing.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/instruments/second_witness.h"

namespace ksearch {

absl::Status SanitizeCandidate(JudgedJob* job) {
  const absl::StatusOr<Instrument>& sanitizer = job->bench.sanitizer();
  if (!sanitizer.ok()) {
    if (job->bench.gpu() == nullptr) return absl::OkStatus();
    job->verdict.mutable_sanitizer()->set_note(
        absl::StrCat("not checked by compute-sanitizer: ", sanitizer.status().message()));
    return absl::OkStatus();
  }
  Report(job->progress, "sanitize", 0, 1);
  const std::vector<size_t> order = SmallestFirst(job->cases);
  std::vector<WitnessCase> cases;
  for (const size_t i : order) cases.push_back({job->cases[i], &job->oracles[i]});
  MemoryCheck check;
  RETURN_IF_ERROR(OffTheClock(job, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(check,
                     AskWitnesses(job->bench, *sanitizer, job->request, *job->candidate, cases));
    return absl::OkStatus();
  }));
  *job->verdict.mutable_sanitizer() = std::move(check.report);
  if (!check.ending.passed()) FailWorkload(check.ending, order[0], job);
  return absl::OkStatus();
}

}  // namespace ksearch

#include "coordinator/engine/task_admission.h"

#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/task_evidence.h"
#include "common/trusted_programs.h"
#include "coordinator/engine/job_specs.h"
#include "coordinator/search/score.h"

namespace ksearch {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(100);

absl::Status Verdict(const v1::Task& task, const v1::JobResult& result) {
  if (result.outcome() == v1::OUTCOME_PASSED || IsInfrastructureOutcome(result.outcome())) {
    return absl::OkStatus();
  }
  if (result.outcome() == v1::OUTCOME_TASK_ERROR) return TaskAtFaultError(result.message());
  return TaskAtFaultError(absl::StrCat("the baseline of ", task.name(), " ends as ",
                                       OutcomeWord(result.outcome()), ": ", result.message()));
}

}  // namespace

absl::Status TaskAdmission::Admit(const v1::Task& task, const v1::RunConfig& config,
                                  const v1::Platform& platform,
                                  absl::FunctionRef<bool(absl::Duration)> wait) {
  const v1::Sources* const baseline = ChooseTrusted(task.baselines(), config.language());
  if (baseline == nullptr) return absl::OkStatus();
  const JobSpecs specs(task, config.measure(), config.limits());
  v1::JobSpec spec = specs.Check(*baseline);
  v1::Platform wanted = platform;
  // The required toolkit is that of the run's own language.
  if (baseline->language() != config.language()) wanted.clear_toolkit();
  SetPlatform(wanted, &spec);
  ASSIGN_OR_RETURN(const std::string job_id, IdOfJobToTry(*parts_.store, &spec));
  bool submitted = false;
  do {
    ASSIGN_OR_RETURN(const std::optional<v1::JobResult> result, parts_.store->ReadResult(job_id));
    if (result.has_value()) return Verdict(task, *result);
    if (submitted) continue;
    if (!parts_.can_place(spec)) return absl::OkStatus();
    RETURN_IF_ERROR(parts_.store->PutBlob(specs.task_sha256(), task.SerializeAsString()));
    RETURN_IF_ERROR(parts_.store->AddJob(job_id, spec));
    parts_.jobs->Submit(/*run_id=*/"", job_id, spec);
    submitted = true;
  } while (wait(kPollInterval));
  return absl::OkStatus();
}

}  // namespace ksearch

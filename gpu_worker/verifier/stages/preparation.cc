#include "gpu_worker/verifier/stages/preparation.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/task_fault.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/stages/baseline_timing.h"
#include "gpu_worker/verifier/tensors/suite_verdict.h"
#include "gpu_worker/verifier/trusted_programs.h"

namespace ksearch {
namespace {

// Sets of a workload that are held at the same time, whatever is done with it: the reference's and
// another program's.
constexpr int kLeastSetsInMemory = 2;

// If the machine is too small, trying again does not help.
absl::Status CheckFitsMachine(const WorkloadCase& workload) {
  const int64_t machine_bytes = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  if (workload.footprint_bytes() <= machine_bytes / kLeastSetsInMemory) return absl::OkStatus();
  return TaskFault(absl::StrCat("workload ", workload.uuid(), ": its tensors take ",
                                workload.footprint_bytes() >> 20, " MiB, and ", kLeastSetsInMemory,
                                " sets of them do not fit into this machine's ",
                                machine_bytes >> 20, " MiB; make its axes smaller"));
}

// The reference's answers for the additional input variants of the suite's rule, as many as there
// is time for.
absl::StatusOr<OracleEntries> AnswerTrials(Bench& bench, const ProgramImage& reference,
                                           const std::shared_ptr<const WorkloadCase>& workload,
                                           const OracleEntries& oracles) {
  // If the task's own program judges, there is nothing to compare with.
  const bool compares = workload->suite_rule().rule() != v1::SuiteRule::CHECKER;
  const int64_t trials = compares ? SuiteTrials(*workload) : 0;
  const absl::Duration each = std::max(ReferenceTime(oracles), absl::Nanoseconds(1));
  const double affordable = absl::FDivDuration(kTrialTimePerWorkload, each);
  const int64_t room = bench.oracle().MostAnswers(oracles) - static_cast<int64_t>(oracles.size());
  std::vector<int64_t> variants;
  for (int64_t trial = kGateVariants; trial < trials; ++trial) {
    const auto next = static_cast<int64_t>(variants.size()) + 1;
    if (static_cast<double>(next) > affordable || next > room) break;
    variants.push_back(kFirstTrialVariant + trial);
  }
  if (variants.empty()) return OracleEntries();
  return bench.oracle().Get(reference, workload, variants);
}

}  // namespace

absl::Status PrepareJob(JudgedJob* job) {
  const v1::VerifierRequest& request = job->request;
  if (request.job().kind() == v1::JOB_KIND_UNSPECIFIED) {
    return absl::InvalidArgumentError("job.kind is not set");
  }
  if (request.job().workload_uuids().empty()) {
    return absl::InvalidArgumentError("job.workload_uuids is empty");
  }
  if (request.job().kind() == v1::JOB_KIND_BASELINE && !request.has_baseline()) {
    return absl::InvalidArgumentError("job.kind is BASELINE, but the task has no baseline");
  }
  if (request.job().rivals_size() != request.rivals_size()) {
    return absl::InvalidArgumentError("job.rivals and rivals differ in number");
  }
  ASSIGN_OR_RETURN(ProgramImage candidate, ProgramImage::Open(request.candidate()));
  ASSIGN_OR_RETURN(ProgramImage reference, ProgramImage::Open(request.reference()));
  job->candidate.emplace(std::move(candidate));
  job->reference.emplace(std::move(reference));
  if (request.has_baseline()) {
    ASSIGN_OR_RETURN(ProgramImage baseline, ProgramImage::Open(request.baseline()));
    job->baseline.emplace(std::move(baseline));
  }
  // The variants that were used to find a candidate must not be used to confirm it.
  const bool confirm = request.job().kind() == v1::JOB_KIND_CONFIRM;
  if (confirm) job->own_seed = Seed::Fresh();
  const Seed seed = confirm ? *job->own_seed : job->bench.DrawScreeningSeed();
  const bool timed = IsTimed(request.job().kind());
  for (const std::string& uuid : request.job().workload_uuids()) {
    Report(job->progress, "prepare", job->cases.size(),
           static_cast<size_t>(request.job().workload_uuids_size()));
    ASSIGN_OR_RETURN(const v1::Workload* workload, FindWorkload(request.task(), uuid));
    auto drawn = job->bench.Case(request.task(), request.task_sha256(), *workload, seed);
    // No other worker could draw it either.
    if (absl::IsInvalidArgument(drawn.status())) return TaskFault(drawn.status().message());
    ASSIGN_OR_RETURN(std::shared_ptr<const WorkloadCase> made, std::move(drawn));
    if (job->bench.gpu() == nullptr) RETURN_IF_ERROR(CheckFitsMachine(*made));
    RETURN_IF_ERROR(CheckTrustedTime(job->bench.clock(), job->trusted_deadline));
    OracleEntries oracles;
    if (timed) {
      ASSIGN_OR_RETURN(oracles, job->bench.oracle().GetForTiming(*job->reference, made));
    } else {
      std::vector<int64_t> gate(kGateVariants);
      std::iota(gate.begin(), gate.end(), 0);
      ASSIGN_OR_RETURN(oracles, job->bench.oracle().Get(*job->reference, made, gate));
    }
    OracleEntries trials;
    if (request.job().kind() != v1::JOB_KIND_BASELINE) {
      ASSIGN_OR_RETURN(trials, AnswerTrials(job->bench, *job->reference, made, oracles));
    }
    job->cases.push_back(std::move(made));
    job->oracles.push_back(std::move(oracles));
    job->trials.push_back(std::move(trials));
  }
  if (confirm) {
    RETURN_IF_ERROR(CheckTrustedTime(job->bench.clock(), job->trusted_deadline));
    ASSIGN_OR_RETURN(job->hidden,
                     AnswerHiddenCases(job->bench, request.task(), request.task_sha256(),
                                       *job->reference, job->cases, job->oracles));
  }
  job->bench.oracle().Rest();
  job->results.resize(job->cases.size());
  return absl::OkStatus();
}

absl::Status TryTrustedPrograms(JudgedJob* job) {
  const v1::VerifierRequest& request = job->request;
  // As often as it is timed anew.
  if (TimesBaseline(request.job().kind()) && job->baseline.has_value() &&
      !HasBaselineTimings(*job)) {
    RETURN_IF_ERROR(TryTrustedProgram(job->bench, *job->baseline, "the baseline", true, job->cases,
                                      job->oracles, job->trusted_deadline));
  }
  for (int r = 0; r < request.rivals_size(); ++r) {
    ASSIGN_OR_RETURN(const ProgramImage rival, ProgramImage::Open(request.rivals(r)));
    RETURN_IF_ERROR(
        FaultOf(TryTrustedProgram(job->bench, rival, absl::StrCat("rival '", rival.id(), "'"),
                                  !request.job().rivals(r).has_sources(), job->cases, job->oracles,
                                  job->trusted_deadline),
                request.job().rivals(r)));
  }
  return absl::OkStatus();
}

}  // namespace ksearch

#include "gpu_worker/verifier/job_verifier.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/measure_defaults.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/task_fault.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/dialogue/runner_reply.h"
#include "gpu_worker/verifier/dialogue/trusted_ending.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/instruments/candidate_profile.h"
#include "gpu_worker/verifier/stages/baseline_timing.h"
#include "gpu_worker/verifier/stages/gate.h"
#include "gpu_worker/verifier/stages/preparation.h"
#include "gpu_worker/verifier/stages/rival_comparison.h"
#include "gpu_worker/verifier/stages/sanitizing.h"
#include "gpu_worker/verifier/stages/screening.h"
#include "gpu_worker/verifier/warm/warm_programs.h"

namespace ksearch {
namespace {

void BlameForDeviceError(v1::Verdict* verdict) {
  verdict->set_message(
      CleanText(absl::StrCat("the program reported a device error which the device does not know "
                             "of: ",
                             verdict->message()),
                kMaxMessageBytes));
}

v1::Verdict TaskErrorFor(const absl::Status& fault) {
  v1::Verdict verdict;
  verdict.set_outcome(v1::OUTCOME_TASK_ERROR);
  verdict.set_message(CleanText(fault.message(), kMaxMessageBytes));
  verdict.set_at_fault(AtFault(fault));
  return verdict;
}

}  // namespace

// A device that fails makes anything of a verdict.
absl::StatusOr<v1::Verdict> JobVerifier::Verify(const v1::VerifierRequest& given) {
  bench_.UseBlobs({given.blobs().begin(), given.blobs().end()});
  if (given.has_reference()) {
    bench_.input_maker().Use(given.reference());
    bench_.judge().Use(given.reference());
  }
  v1::VerifierRequest request;
  v1::Verdict warmed;
  absl::Status warm;
  const auto begins = [this] { Report(progress_, "warm", 0, 1); };
  for (int tries = 1; tries <= kUnexplainedTries; ++tries) {
    request = given;
    warm = WarmPrograms(bench_, begins, &request, &warmed);
    if (!IsUnexplained(warm)) break;
    RETURN_IF_ERROR(bench_.AskDevice(absl::StrCat("after ", warm.message())));
  }
  if (IsTaskFault(warm)) return TaskErrorFor(warm);
  RETURN_IF_ERROR(warm);
  if (warmed.outcome() != v1::OUTCOME_PASSED) return warmed;
  Tries tries;
  absl::StatusOr<v1::Verdict> verdict = absl::UnknownError("not judged");
  // A program that kills itself, or makes up device errors, does so every time.
  while (true) {
    tries.again.clear();
    ++tries.begun;
    verdict = Judge(request, &tries);
    // Programs have seen other inputs than they should have.
    if (const absl::Status made = bench_.input_maker().fault(); !made.ok()) {
      verdict = made;
      bench_.input_maker().Use(given.reference());
    }
    if (const absl::Status judged = bench_.judge().fault(); !judged.ok()) {
      verdict = judged;
      bench_.judge().Use(given.reference());
    }
    if (IsTaskFault(verdict.status())) {
      const absl::Status fault = verdict.status();
      if (IsUnexplained(fault) && tries.begun < kUnexplainedTries) {
        RETURN_IF_ERROR(bench_.AskDevice(absl::StrCat("after ", fault.message())));
        continue;
      }
      verdict = TaskErrorFor(fault);
      break;
    }
    if (verdict.ok() && !tries.machine.ok()) verdict = tries.machine;
    if (!verdict.ok() || tries.again.empty()) break;
    // A candidate can have its own process say anything: the device is asked itself.
    if (tries.device_error) {
      RETURN_IF_ERROR(bench_.AskDevice(absl::StrCat("after a runner said '", tries.again, "'")));
    }
    if (tries.begun == kUnexplainedTries || bench_.clock().SteadyNow() >= *tries.deadline) {
      if (tries.device_error) BlameForDeviceError(&*verdict);
      break;
    }
    LOG(WARNING) << "msg=\"a runner ended for no reason of its own, trying again\" candidate="
                 << request.candidate().id() << " error=\"" << tries.again << "\"";
  }
  RETURN_IF_ERROR(bench_.DeviceHealth());
  if (verdict.ok()) *verdict->mutable_kernels() = std::move(*warmed.mutable_kernels());
  if (verdict.ok() && verdict->outcome() != v1::OUTCOME_PASSED) {
    // Whatever was killed or failed there: the next job must find the device alive.
    RETURN_IF_ERROR(bench_.AskDevice("after a candidate failed"));
  }
  return verdict;
}

absl::StatusOr<v1::Verdict> JobVerifier::Judge(const v1::VerifierRequest& request, Tries* tries) {
  if (request.job().kind() == v1::JOB_KIND_PROFILE) {
    bench_.starter().Settle();
    return CarryOutProfile(bench_, request, [this] { Report(progress_, "profile", 0, 1); });
  }
  JudgedJob job = {bench_, progress_, request,
                   WithDefaults(request.job().plan(), request.task().device())};
  const Clock& clock = bench_.clock();
  // Nobody requests these again; if kept, they would evict the answers that every screening needs.
  const absl::Cleanup forget = [&] {
    if (job.own_seed.has_value()) bench_.oracle().Forget(*job.own_seed);
  };
  const absl::Time prepare_start = clock.SteadyNow();
  job.trusted_deadline = prepare_start + tries->trusted_time;
  const absl::Cleanup count_time = [&] {
    if (!job.trusted_programs_done) tries->trusted_time -= clock.SteadyNow() - prepare_start;
  };
  const v1::Limits limits = WithDefaults(request.job().limits());
  const bool judged = request.job().kind() != v1::JOB_KIND_BASELINE;
  if (judged) bench_.starter().Foresee(request.candidate().runner(), limits);
  RETURN_IF_ERROR(PrepareJob(&job));
  RETURN_IF_ERROR(TryTrustedPrograms(&job));
  // Nothing of a start may fall into what is timed; but what starts beside a GPU's screening is off
  // the device, as the compilers that work beside it are. Suites' clocks also time the host.
  const bool starts_beside =
      bench_.gpu() != nullptr && request.job().kind() == v1::JOB_KIND_SCREEN && !TimesAsSuite(job);
  if (!starts_beside) bench_.starter().Settle();
  const absl::Time baseline_start = clock.SteadyNow();
  // Before the candidate is there: it could slow the baseline down.
  if (TimesBaseline(request.job().kind())) RETURN_IF_ERROR(TimeBaseline(&job));
  job.trusted_programs_done = true;
  job.limits.call_time = FromProto(limits.call_time());
  // All tries have the time of one; preparing another try counts, too.
  if (!tries->deadline.has_value()) {
    tries->deadline = clock.SteadyNow() + FromProto(limits.total_time());
  }
  job.limits.deadline = *tries->deadline;
  job.verdict.set_outcome(v1::OUTCOME_PASSED);
  *job.verdict.mutable_isolation() = bench_.starter().isolation();
  if (IsTimed(request.job().kind())) {
    v1::DevicePeaks peaks = bench_.Peaks();
    if (peaks.ByteSizeLong() > 0) *job.verdict.mutable_peaks() = std::move(peaks);
  }
  if (request.job().kind() == v1::JOB_KIND_BASELINE) {
    *job.verdict.mutable_measure_time() = ToProto(clock.SteadyNow() - baseline_start);
    ReportBaselines(&job);
    return std::move(job.verdict);
  }
  if (clock.SteadyNow() >= job.limits.deadline) {
    Fail({v1::OUTCOME_TIMEOUT, "the whole job took longer than limits.total_time"}, &job);
    return std::move(job.verdict);
  }

  if (bench_.gpu() != nullptr && request.job().kind() == v1::JOB_KIND_SCREEN) {
    ASSIGN_OR_RETURN(job.alone, bench_.IdlePacesNow());
  }
  const absl::Time check_start = clock.SteadyNow();
  ASSIGN_OR_RETURN(std::unique_ptr<RunnerLink> link, StartCandidate(job));
  if (starts_beside) bench_.starter().FillReserve();
  const absl::Time load_start = clock.SteadyNow();
  job.reference_start = bench_.starter().StartTime(*job.reference, RunnerStarter::TrustedLimits(),
                                                   load_start - check_start);
  job.verdict.mutable_isolation()->set_tight_seccomp(link->tight_filter());
  job.verdict.mutable_isolation()->set_allow_list(link->allow_list());
  if (Ending loaded = LoadCandidate(*link, job); !loaded.passed()) {
    Fail(loaded, &job);
  } else {
    RETURN_IF_ERROR(CheckWorkloads(*link, &job));
    if (job.verdict.outcome() == v1::OUTCOME_PASSED) RETURN_IF_ERROR(CheckHiddenCases(*link, &job));
  }
  const absl::Time measure_start = clock.SteadyNow();
  *job.verdict.mutable_check_time() = ToProto(measure_start - check_start);
  if (job.verdict.outcome() == v1::OUTCOME_PASSED) {
    if (request.job().kind() == v1::JOB_KIND_SCREEN) {
      RETURN_IF_ERROR(TimeCandidate(&link, &job));
    } else if (request.job().kind() == v1::JOB_KIND_CONFIRM) {
      job.verdict.set_stderr_excerpt(link->EndAndReadOutput(kMaxStderrBytes));
      RETURN_IF_ERROR(SanitizeCandidate(&job));
      if (job.verdict.outcome() == v1::OUTCOME_PASSED) RETURN_IF_ERROR(CompareWithRivals(&job));
    } else if (request.job().kind() == v1::JOB_KIND_EXAMINE) {
      job.verdict.set_stderr_excerpt(link->EndAndReadOutput(kMaxStderrBytes));
      RETURN_IF_ERROR(SanitizeCandidate(&job));
    }
  }
  const absl::Time measure_end = clock.SteadyNow();
  *job.verdict.mutable_measure_time() = ToProto(measure_end - measure_start);
  LOG(INFO) << "msg=\"stages\" kind=" << v1::JobKind_Name(request.job().kind())
            << " oracle=" << baseline_start - prepare_start
            << " baseline=" << check_start - baseline_start << " start=" << load_start - check_start
            << " check=" << measure_start - load_start
            << " measure=" << measure_end - measure_start;
  if (job.verdict.stderr_excerpt().empty()) {
    job.verdict.set_stderr_excerpt(link->EndAndReadOutput(kMaxStderrBytes));
  }
  for (v1::WorkloadResult& result : job.results) {
    if (!result.workload_uuid().empty()) *job.verdict.add_workloads() = std::move(result);
  }
  tries->deadline = job.limits.deadline;
  tries->again = std::move(job.unexplained);
  tries->machine = std::move(job.machine);
  tries->device_error = job.device_error;
  return std::move(job.verdict);
}

}  // namespace ksearch

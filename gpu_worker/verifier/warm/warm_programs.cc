#include "gpu_worker/verifier/warm/warm_programs.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/measure_defaults.h"
#include "common/status_macros.h"
#include "common/task_fault.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/dialogue/runner_reply.h"
#include "gpu_worker/verifier/dialogue/trusted_ending.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/warm/compile_words.h"
#include "gpu_worker/verifier/warm/warm_stage.h"

namespace ksearch {
namespace {

// One trusted program; `what`: its part in the task.
absl::Status WarmTrusted(WarmStage& stage, const v1::VerifierRequest& request,
                         absl::string_view what, bool is_tasks_own, absl::Duration time,
                         v1::Artifact* artifact) {
  ASSIGN_OR_RETURN(WarmStage::Warmed warmed,
                   stage.Warm(request, *artifact, RunnerStarter::TrustedLimits(), time));
  if (warmed.ending.passed()) {
    *artifact = std::move(warmed.artifact);
    return absl::OkStatus();
  }
  const std::string where =
      warmed.workload_uuid.empty() ? "" : absl::StrCat(" on workload ", warmed.workload_uuid);
  return TaskFaultOf(warmed.ending,
                     absl::StrCat(what, " fails in its warm stage", where, ": ",
                                  is_tasks_own ? OwnWords(warmed.ending) : warmed.ending.message));
}

absl::Status WarmAllTrusted(WarmStage& stage, const Clock& clock,
                            const std::function<void()>& begins, v1::VerifierRequest* request) {
  const absl::Time deadline = clock.SteadyNow() + kTrustedTime;
  const auto warm = [&](absl::string_view what, bool is_tasks_own, v1::Artifact* artifact) {
    if (!WarmStage::Wanted(*artifact)) return absl::OkStatus();
    begins();
    return WarmTrusted(stage, *request, what, is_tasks_own, deadline - clock.SteadyNow(), artifact);
  };
  if (request->has_reference()) {
    RETURN_IF_ERROR(warm("the reference", true, request->mutable_reference()));
  }
  if (request->has_baseline()) {
    RETURN_IF_ERROR(warm("the baseline", true, request->mutable_baseline()));
  }
  for (int r = 0; r < request->rivals_size() && r < request->job().rivals_size(); ++r) {
    const v1::Rival rival = request->job().rivals(r);
    const absl::Status done = warm(absl::StrCat("rival '", rival.rival_id(), "'"),
                                   !rival.has_sources(), request->mutable_rivals(r));
    if (IsTaskFault(done) && rival.has_sources()) return FaultOfRival(done, rival.rival_id());
    RETURN_IF_ERROR(done);
  }
  return absl::OkStatus();
}

void ReportFailure(WarmStage::Warmed warmed, v1::JobKind kind, v1::Verdict* verdict) {
  // Does not reveal anything about held-out workloads.
  if (kind == v1::JOB_KIND_CONFIRM) warmed.ending.words.clear();
  const Ending ended = DescribeCompileError(std::move(warmed.ending));
  verdict->set_outcome(ended.outcome);
  if (ended.outcome == v1::OUTCOME_CHEAT) verdict->add_suspicions(ended.message);
  if (warmed.workload_uuid.empty()) {
    verdict->set_message(CleanText(ended.message, kMaxMessageBytes));
    return;
  }
  verdict->set_message(CleanText(
      absl::StrCat("workload ", warmed.workload_uuid, ": ", ended.message), kMaxMessageBytes));
  v1::WorkloadResult* const result = verdict->add_workloads();
  result->set_workload_uuid(warmed.workload_uuid);
  result->set_outcome(ended.outcome);
  result->set_message(CleanText(ended.message, kMaxMessageBytes));
}

}  // namespace

absl::Status WarmPrograms(Bench& bench, const std::function<void()>& begins,
                          v1::VerifierRequest* request, v1::Verdict* verdict) {
  verdict->set_outcome(v1::OUTCOME_PASSED);
  if (bench.warm_folders() != nullptr) bench.warm_folders()->Release();
  WarmStage stage(bench, bench.warm_folders());
  RETURN_IF_ERROR(WarmAllTrusted(stage, bench.clock(), begins, request));
  if (!WarmStage::Wanted(request->candidate())) return absl::OkStatus();
  begins();
  const v1::Limits limits = WithDefaults(request->job().limits());
  // The process that is judged starts while this one compiles.
  bench.starter().Foresee(WarmStage::RunnerOf(request->candidate()), limits);
  WarmStage::Warmed warmed;
  for (int tries = 1; tries <= kUnexplainedTries; ++tries) {
    ASSIGN_OR_RETURN(
        warmed, stage.Warm(*request, request->candidate(), limits, FromProto(limits.build_time())));
    if (warmed.ending.machine_failed) return MachineFailure(warmed.ending);
    if (!warmed.ending.device_failed && !warmed.ending.killed) break;
    RETURN_IF_ERROR(
        bench.AskDevice(absl::StrCat("after a runner said '", warmed.ending.message, "'")));
  }
  if (warmed.ending.passed()) {
    *request->mutable_candidate() = std::move(warmed.artifact);
    for (v1::KernelFacts& kernel : warmed.kernels) *verdict->add_kernels() = std::move(kernel);
    return absl::OkStatus();
  }
  *verdict->mutable_isolation() = bench.starter().isolation();
  ReportFailure(std::move(warmed), request->job().kind(), verdict);
  // The next job must find the device alive.
  return bench.AskDevice("after a candidate failed in its warm stage");
}

}  // namespace ksearch

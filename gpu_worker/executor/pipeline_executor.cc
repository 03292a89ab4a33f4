#include "gpu_worker/executor/pipeline_executor.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/job_kind.h"
#include "common/language.h"
#include "common/measure_defaults.h"
#include "common/platform.h"
#include "common/recorded_inputs.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/task_fault.h"
#include "common/task_limits.h"
#include "common/textproto.h"
#include "common/utf8.h"
#include "gpu_worker/build/diagnostics.h"
#include "gpu_worker/build/marks/source_marks.h"
#include "gpu_worker/executor/program_builds.h"

namespace ksearch {
namespace {

// The verifier enforces limits.total_time itself, except for the task's own programs, which have
// five minutes plus the time of one last workload. After this margin it counts as hung.
constexpr absl::Duration kVerifierMargin = absl::Minutes(10);
constexpr size_t kMaxMessageBytes = 2 << 10;

v1::VerifierRequest MakeRequest(const v1::JobSpec& spec, const v1::Task& task,
                                const ProgramBuilds& builds, const std::string& inputs_folder) {
  v1::VerifierRequest request;
  for (const std::string& sha256 : RecordedInputsOf(task)) {
    (*request.mutable_blobs())[sha256] = absl::StrCat(inputs_folder, "/", sha256);
  }
  *request.mutable_task() = task;
  request.set_task_sha256(spec.task_sha256());
  *request.mutable_job() = spec;
  *request.mutable_candidate() = ArtifactOf(CandidateId(spec.candidate()), builds.candidate);
  *request.mutable_reference() = ArtifactOf("reference", builds.reference);
  if (builds.baseline.has_value()) {
    *request.mutable_baseline() = ArtifactOf("baseline", *builds.baseline);
  }
  for (int i = 0; i < spec.rivals_size(); ++i) {
    *request.add_rivals() =
        ArtifactOf(spec.rivals(i).rival_id(), builds.rivals[static_cast<size_t>(i)]);
  }
  if (builds.delayed.has_value()) {
    *request.mutable_delayed() = ArtifactOf("delayed", *builds.delayed);
  }
  request.set_delayed_absence(builds.delayed_absence);
  if (builds.lined.has_value()) *request.mutable_lined() = ArtifactOf("lined", *builds.lined);
  return request;
}

void TakeVerdict(v1::Verdict verdict, v1::JobResult* result) {
  result->set_outcome(verdict.outcome());
  result->set_message(verdict.message());
  result->set_at_fault(verdict.at_fault());
  *result->mutable_workloads() = std::move(*verdict.mutable_workloads());
  *result->mutable_comparisons() = std::move(*verdict.mutable_comparisons());
  *result->mutable_suspicions() = std::move(*verdict.mutable_suspicions());
  if (verdict.has_isolation()) *result->mutable_isolation() = verdict.isolation();
  *result->mutable_stage_times()->mutable_check() = verdict.check_time();
  *result->mutable_stage_times()->mutable_measure() = verdict.measure_time();
  result->set_stderr_excerpt(verdict.stderr_excerpt());
  if (verdict.has_profile()) *result->mutable_profile() = std::move(*verdict.mutable_profile());
  if (verdict.has_sanitizer()) {
    *result->mutable_sanitizer() = std::move(*verdict.mutable_sanitizer());
  }
  if (verdict.has_peaks()) *result->mutable_peaks() = verdict.peaks();
  result->mutable_build()->mutable_kernels()->MergeFrom(verdict.kernels());
}

// A missing profiler on this worker is an answer, not a failure of the job.
void SetNoProfile(v1::Profile::Absence absence, absl::string_view note, v1::JobResult* result) {
  result->set_outcome(v1::OUTCOME_PASSED);
  result->mutable_profile()->set_absence(absence);
  result->mutable_profile()->set_note(std::string(note));
}

// The architecture of the device that the job needs; empty: any.
std::string DeviceArchitecture(const v1::JobSpec& spec) {
  if (TakesNoDevice(spec.kind())) return "";
  return spec.architecture().empty() ? spec.platform().architecture() : spec.architecture();
}

// The device's fingerprint, with the compiler for `language`.
v1::DeviceFingerprint FingerprintWith(const DevicePool::Slot& slot, const Toolchains& toolchains,
                                      v1::Language language) {
  v1::DeviceFingerprint print = slot.monitor->Fingerprint();
  const auto toolchain = toolchains.find(language);
  if (toolchain != toolchains.end()) print.set_toolkit(toolchain->second->toolkit());
  return print;
}

// Runs a problem's description program and keeps its answer.
absl::Status Describe(const Toolchains& toolchains, const v1::JobSpec& spec, std::stop_token stop,
                      v1::JobResult* result) {
  const auto toolchain = toolchains.find(spec.candidate().language());
  if (toolchain == toolchains.end()) {
    return absl::FailedPreconditionError(absl::StrCat("this worker has no toolchain for ",
                                                      LanguageName(spec.candidate().language())));
  }
  ASSIGN_OR_RETURN(
      ProgramDescription description,
      toolchain->second->Describe({spec.candidate(), /*kernel_header=*/"", spec.limits()}, stop));
  result->set_outcome(description.outcome);
  result->set_message(description.message);
  if (description.outcome != v1::OUTCOME_PASSED) return absl::OkStatus();
  if (static_cast<int64_t>(description.text.size()) > kMaxDescriptionBytes) {
    result->set_outcome(v1::OUTCOME_COMPILE_LIMIT);
    result->set_message(
        absl::StrCat("the description is longer than ", kMaxDescriptionBytes, " bytes"));
  } else if (ValidUtf8Bytes(description.text) < description.text.size()) {
    result->set_outcome(v1::OUTCOME_INVALID_SOURCE);
    result->set_message("the description is not UTF-8");
  } else {
    result->set_description(std::move(description.text));
  }
  return absl::OkStatus();
}

absl::Status CheckWorkloads(const v1::JobSpec& spec, const v1::Task& task) {
  for (const std::string& uuid : spec.workload_uuids()) {
    bool known = false;
    for (const v1::Workload& workload : task.workloads()) known |= workload.uuid() == uuid;
    if (!known) {
      return absl::InvalidArgumentError(
          absl::StrCat("task ", task.name(), " has no workload ", uuid));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<BuildTurns::Turn>> PipelineExecutor::BeginBuild(std::stop_token stop) {
  if (parts_.build_turns == nullptr) return std::optional<BuildTurns::Turn>();
  ASSIGN_OR_RETURN(BuildTurns::Turn turn, parts_.build_turns->Begin(std::move(stop)));
  return std::optional<BuildTurns::Turn>(std::move(turn));
}

absl::StatusOr<v1::JobResult> PipelineExecutor::Execute(const v1::JobSpec& spec,
                                                        const v1::Task& task,
                                                        const ProgressSink& progress,
                                                        std::stop_token stop) {
  const bool only_build = TakesNoDevice(spec.kind());
  const std::string& model = spec.platform().device_model();
  const auto example = parts_.devices->Example(task.device(), DeviceArchitecture(spec), model);
  if (!example.ok()) return Annotate(example.status(), absl::StrCat("task ", task.name()));
  const absl::Status counted = CheckWorkloadCounts(spec, task);
  if (counted.ok()) {
    RETURN_IF_ERROR(CheckWorkloads(spec, task));
  }
  if (spec.kind() == v1::JOB_KIND_PROFILE && spec.workload_uuids_size() != 1) {
    return absl::InvalidArgumentError("a JOB_KIND_PROFILE job names exactly one workload");
  }
  const bool has_device = (*example)->verifier != nullptr;
  if (!has_device && !only_build) {
    return absl::FailedPreconditionError(
        absl::StrCat("this worker only builds (compile_only), it has no device for ",
                     v1::JobKind_Name(spec.kind())));
  }
  const Clock& clock = *parts_.clock;
  const absl::Time start = clock.SteadyNow();
  v1::JobResult result;
  v1::StageTimes& times = *result.mutable_stage_times();
  const auto print_of = [&](const DevicePool::Slot& slot) {
    return FingerprintWith(slot, *parts_.toolchains, spec.candidate().language());
  };
  *result.mutable_device() = print_of(**example);
  // The job comes from a coordinator that knew this worker as another release.
  if (!Meets(PlatformOf(result.device()), spec.platform())) {
    return absl::FailedPreconditionError(
        absl::StrCat("the job is to be done with ", PlatformText(spec.platform()),
                     "; this worker has ", PlatformText(PlatformOf(result.device()))));
  }
  *result.mutable_isolation() = parts_.isolation;
  const auto finish = [&] {
    if (spec.kind() == v1::JOB_KIND_PROFILE) {
      *result.mutable_profile() = ProfileIn(result);
      result.mutable_profile()->set_workload_uuid(spec.workload_uuids(0));
    }
    CutUtf8(kMaxMessageBytes, result.mutable_message());
    *times.mutable_total() = ToProto(clock.SteadyNow() - start);
    *result.mutable_finished_at() = ToProto(clock.Now());
    return std::move(result);
  };

  if (!counted.ok()) {
    // Every worker would refuse the job.
    result.set_outcome(v1::OUTCOME_TASK_ERROR);
    result.set_message(std::string(counted.message()));
    result.set_at_fault(std::string(kTaskAtFault));
    return finish();
  }

  std::string architecture = spec.architecture();
  if (architecture.empty() && task.device() == v1::DEVICE_CLASS_CUDA && has_device) {
    architecture = result.device().architecture();
  }
  progress(v1::HeldLease::BUILDING);
  if (spec.kind() == v1::JOB_KIND_DESCRIBE) {
    ASSIGN_OR_RETURN(const std::optional<BuildTurns::Turn> turn, BeginBuild(stop));
    RETURN_IF_ERROR(Describe(*parts_.toolchains, spec, stop, &result));
    return finish();
  }
  std::optional<ProgramBuilds> builds;
  {
    // Compilers on the processors being measured would distort the numbers. A GPU is not affected:
    // builds continue beside its measurements.
    ASSIGN_OR_RETURN(const std::optional<BuildTurns::Turn> turn, BeginBuild(stop));
    const absl::Time begin = clock.SteadyNow();
    *times.mutable_queued() = ToProto(begin - start);
    absl::StatusOr<ProgramBuilds> built =
        BuildPrograms(*parts_.toolchains, spec, task, architecture, stop);
    *times.mutable_build() = ToProto(clock.SteadyNow() - begin);
    if (IsTaskFault(built.status())) {
      result.set_outcome(v1::OUTCOME_TASK_ERROR);
      result.set_message(std::string(built.status().message()));
      result.set_at_fault(AtFault(built.status()));
      return finish();
    }
    RETURN_IF_ERROR(built.status());
    builds = *std::move(built);
  }
  *result.mutable_build() = builds->candidate.report;
  if (builds->candidate.outcome != v1::OUTCOME_PASSED) {
    result.set_outcome(builds->candidate.outcome);
    result.set_message(builds->candidate.message);
    return finish();
  }
  if (spec.kind() == v1::JOB_KIND_BUILD) {
    result.set_outcome(v1::OUTCOME_PASSED);
    return finish();
  }
  if (spec.kind() == v1::JOB_KIND_PROFILE && task.device() != v1::DEVICE_CLASS_CUDA) {
    SetNoProfile(v1::Profile::NOT_SUPPORTED, "the task runs on no GPU: nothing to profile",
                 &result);
    return finish();
  }

  progress(v1::HeldLease::WAITING);
  const absl::Time built = clock.SteadyNow();
  // A program built for one architecture runs on no other.
  ASSIGN_OR_RETURN(const DevicePool::Taken device,
                   parts_.devices->Take(task.device(), result.device().architecture(), stop,
                                        spec.avoid_device_id(), model));
  *result.mutable_device() = print_of(*device.slot);
  const absl::Time held = clock.SteadyNow();
  *times.mutable_wait_device() = ToProto(held - built);
  progress(v1::HeldLease::RUNNING);
  const absl::Duration limit = FromProto(WithDefaults(spec.limits()).total_time());
  absl::StatusOr<v1::Verdict> verdict =
      device.slot->verifier->Judge(MakeRequest(spec, task, *builds, parts_.inputs_folder),
                                   Clock::Real().SteadyNow() + limit + kVerifierMargin, stop);
  if (absl::IsCancelled(verdict.status())) return verdict.status();
  if (!verdict.ok()) parts_.devices->Doubt(*device.slot, std::string(verdict.status().message()));
  // Whatever the candidate's outcome, the device's fault caused it.
  const std::string fault = device.slot->monitor->FaultSince(held);
  if (!fault.empty()) {
    return absl::UnavailableError(absl::StrCat(
        "device ", result.device().device_id(), " failed while the job was on it: ", fault,
        verdict.ok() ? "" : absl::StrCat(" (", verdict.status().message(), ")")));
  }
  RETURN_IF_ERROR(verdict.status());
  TakeVerdict(*std::move(verdict), &result);
  // A failed candidate has its verdict already, and a baseline is trusted.
  if (result.outcome() == v1::OUTCOME_PASSED && spec.kind() != v1::JOB_KIND_BASELINE) {
    for (std::string& mark : SourceMarks(spec.candidate(), result.build())) {
      result.add_suspicions(std::move(mark));
    }
  }
  if (spec.kind() == v1::JOB_KIND_PROFILE) {
    if (!result.has_profile() && result.outcome() == v1::OUTCOME_PASSED) {
      SetNoProfile(v1::Profile::NO_PROFILER, "this worker has no profiler", &result);
    }
  }
  *times.mutable_device_held() = ToProto(clock.SteadyNow() - held);
  return finish();
}

}  // namespace ksearch

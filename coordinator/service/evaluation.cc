#include "coordinator/service/evaluation.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/digest.h"
#include "common/job_kind.h"
#include "common/language.h"
#include "common/measure_defaults.h"
#include "common/platform.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/task_limits.h"
#include "common/trusted_programs.h"
#include "common/worker_advice.h"
#include "coordinator/engine/job_specs.h"
#include "coordinator/engine/run_settings.h"
#include "coordinator/scheduler/placement.h"

namespace ksearch {
namespace {

constexpr size_t kMaxArchitectureBytes = 64;
constexpr size_t kMaxSaltBytes = 200;

// "sm_", digits, at most one letter: the form that nvcc calls a real architecture. Which of them
// exist, only compilers know.
bool IsCudaArchitecture(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "sm_")) return false;
  if (!name.empty() && (name.back() == 'a' || name.back() == 'f')) name.remove_suffix(1);
  return name.size() >= 2 && std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isdigit(static_cast<unsigned char>(c));
         });
}

absl::Status CheckArchitecture(const std::string& architecture, v1::DeviceClass device) {
  if (architecture.size() > kMaxArchitectureBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("architecture: longer than ", kMaxArchitectureBytes, " bytes"));
  }
  if (device == v1::DEVICE_CLASS_CUDA && !architecture.empty() &&
      !IsCudaArchitecture(architecture)) {
    return absl::InvalidArgumentError(
        absl::StrCat("architecture: '", absl::CEscape(architecture),
                     "' is not a CUDA architecture; write sm_90a (H100, H200) or sm_100a (B200)"));
  }
  return absl::OkStatus();
}

absl::Status CheckSalt(const v1::EvaluateRequest& request) {
  if (request.salt().empty()) return absl::OkStatus();
  if (request.repeat()) {
    return absl::InvalidArgumentError("salt: `repeat` makes one of its own; set one of the two");
  }
  const bool printable = std::all_of(request.salt().begin(), request.salt().end(),
                                     [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  if (printable && request.salt().size() <= kMaxSaltBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("salt: must be at most ", kMaxSaltBytes, " printable bytes without spaces"));
}

void SetSalt(const v1::EvaluateRequest& request, v1::JobSpec* spec) {
  if (request.repeat()) spec->set_salt(RandomHex(8));
  if (!request.salt().empty()) spec->set_salt(absl::StrCat("eval/", request.salt(), "/"));
}

v1::JobSpec JobOfKind(const JobSpecs& specs, const v1::EvaluateRequest& request) {
  switch (request.kind()) {
    case v1::JOB_KIND_CONFIRM:
      return specs.Confirm(request.sources(), "", nullptr, 1);
    case v1::JOB_KIND_CHECK:
      return specs.Check(request.sources());
    case v1::JOB_KIND_BUILD:
      return specs.Build(request.sources());
    default:
      return specs.Screen(request.sources());
  }
}

}  // namespace

std::string NoWorkerReason(const v1::JobSpec& spec, const std::vector<v1::WorkerStatus>& workers) {
  if (std::none_of(workers.begin(), workers.end(),
                   [](const v1::WorkerStatus& worker) { return worker.connected(); })) {
    return "no worker is connected";
  }
  const bool build = TakesNoDevice(spec.kind());
  std::set<std::string> others;
  for (const int language : RequirementOf(spec).languages) {
    others.insert(LanguageName(static_cast<v1::Language>(language)));
  }
  others.erase(LanguageName(spec.candidate().language()));
  std::string reason = absl::StrCat("no connected worker can ", build ? "build " : "judge ",
                                    LanguageName(spec.candidate().language()), " candidates");
  if (!spec.architecture().empty()) {
    absl::StrAppend(&reason, build ? " for " : " on ", spec.architecture());
  }
  if (spec.platform().ByteSizeLong() > 0) {
    absl::StrAppend(&reason, " with ", PlatformText(spec.platform()));
  }
  if (!others.empty()) {
    absl::StrAppend(&reason, " and also run programs in ", absl::StrJoin(others, " and "),
                    ", such as the task's own");
  }
  return reason;
}

std::string NoWorkerText(const v1::JobSpec& spec, const std::vector<v1::WorkerStatus>& workers) {
  return absl::StrCat(NoWorkerReason(spec, workers), kStartWorkerAdvice);
}

absl::StatusOr<v1::JobSpec> EvaluationJob(const v1::Task& task,
                                          const v1::EvaluateRequest& request) {
  if (request.sources().files_size() == 0) {
    return absl::InvalidArgumentError("sources.files is empty: give at least one source file");
  }
  const v1::Language language = request.sources().language();
  RETURN_IF_ERROR(CheckRunsTask("sources.language", task, language));
  if (request.kind() == v1::JOB_KIND_PROFILE) {
    return absl::InvalidArgumentError("kind: a profile needs kind SCREEN, which is the default");
  }
  if (request.profile() &&
      (request.kind() == v1::JOB_KIND_CHECK || request.kind() == v1::JOB_KIND_BUILD)) {
    return absl::InvalidArgumentError("profile: only what is timed can be profiled");
  }
  if (request.has_rival() && request.kind() != v1::JOB_KIND_CONFIRM) {
    return absl::InvalidArgumentError("rival: only a confirmation compares; ask for one");
  }
  if (request.has_rival()) {
    if (request.rival().files_size() == 0) {
      return absl::InvalidArgumentError("rival.files is empty: give at least one source file");
    }
    RETURN_IF_ERROR(CheckRunsTask("rival.language", task, request.rival().language()));
  }
  if (request.plan().suite_clock() && !task.has_suite_clock()) {
    return absl::InvalidArgumentError(absl::StrCat("plan.suite_clock: task '", task.name(),
                                                   "' belongs to no suite that has its own clock"));
  }
  if (request.plan().suite_clock_checked() &&
      (!request.plan().suite_clock() || !task.suite_clock().has_checked())) {
    return absl::InvalidArgumentError(
        absl::StrCat("plan.suite_clock_checked: the clock of task '", task.name(),
                     "' has no such mode, or plan.suite_clock is not set"));
  }
  RETURN_IF_ERROR(CheckMeasurement(WithDefaults(request.plan()), WithDefaults(request.limits())));
  const JobSpecs specs(task, request.plan(), request.limits());
  v1::JobSpec spec = JobOfKind(specs, request);
  if (request.has_rival()) {
    spec.clear_rivals();
    v1::Rival* rival = spec.add_rivals();
    rival->set_rival_id("rival");
    *rival->mutable_sources() = request.rival();
  }
  RETURN_IF_ERROR(CheckArchitecture(request.architecture(), task.device()));
  spec.set_architecture(request.architecture());
  RETURN_IF_ERROR(CheckDeviceModel(request.device_model()));
  if (request.kind() == v1::JOB_KIND_BUILD && !request.device_model().empty()) {
    return absl::InvalidArgumentError(
        "device_model: a build takes no device; architecture says what to build for");
  }
  v1::Platform platform;
  platform.set_device_model(request.device_model());
  SetPlatform(platform, &spec);
  if (request.workload_uuids_size() > 0) {
    spec.clear_workload_uuids();
    if (request.workload_uuids_size() > kMaxWorkloads) {
      return absl::InvalidArgumentError(absl::StrCat(
          "workload_uuids: names ", request.workload_uuids_size(), " workloads of task '",
          task.name(), "', and at most ", kMaxWorkloads, " are allowed: ask in several parts"));
    }
    for (const std::string& uuid : request.workload_uuids()) {
      if (std::none_of(task.workloads().begin(), task.workloads().end(),
                       [&](const v1::Workload& workload) { return workload.uuid() == uuid; })) {
        return absl::InvalidArgumentError(
            absl::StrCat("workload_uuids: task ", task.name(), " has no workload '", uuid, "'"));
      }
      spec.add_workload_uuids(uuid);
    }
  }
  RETURN_IF_ERROR(CheckSalt(request));
  SetSalt(request, &spec);
  return spec;
}

std::optional<v1::JobSpec> ProfileJob(const v1::Task& task, const v1::EvaluateRequest& request,
                                      const v1::JobResult& result) {
  const std::string workload = SlowestWorkload(result);
  if (!request.profile() || workload.empty()) return std::nullopt;
  const bool on_gpu = task.device() == v1::DEVICE_CLASS_CUDA;
  v1::JobSpec spec =
      JobSpecs(task, request.plan(), request.limits())
          .Profile(request.sources(), workload, on_gpu ? result.device().architecture() : "");
  SetPlatform(PlatformOf(result.device()), &spec);
  SetSalt(request, &spec);
  return spec;
}

}  // namespace ksearch

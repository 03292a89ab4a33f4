#include "gpu_worker/executor/program_builds.h"

#include <future>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/kernel_header.h"
#include "common/language.h"
#include "common/measure_defaults.h"
#include "common/program_form.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/task_fault.h"
#include "common/trusted_programs.h"

namespace ksearch {
namespace {

absl::Status CheckToolchain(const Toolchains& toolchains, const v1::Sources& sources,
                            absl::string_view what) {
  if (toolchains.count(sources.language()) > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("this worker has no toolchain for ", what,
                                                    ", which is in ",
                                                    LanguageName(sources.language())));
}

std::string FileNames(const v1::Sources& sources) {
  return absl::StrJoin(sources.files(), ", ", [](std::string* out, const v1::SourceFile& file) {
    out->append(file.path());
  });
}

// A program other than the candidate must build: without it the candidate cannot be judged.
absl::StatusOr<BuildResult> BuildRequired(Builder& builder, const BuildRequest& request,
                                          const std::string& what, std::stop_token stop) {
  auto built = builder.Build(request, stop);
  if (!built.ok()) return Annotate(built.status(), what);
  if (built->outcome == v1::OUTCOME_PASSED) return built;
  return TaskFault(absl::StrCat(what, " (", FileNames(request.sources), ") does not build: ",
                                OutcomeWord(built->outcome), ": ", built->message));
}

// Names the task's forms to the author of a program that has none of them, and so no entry at all
// (build/python/check_program.py).
void NameForms(const v1::Task& task, const v1::Sources& program, BuildResult* built) {
  if (built->outcome != v1::OUTCOME_COMPILE_ERROR ||
      !absl::StrContains(built->message, ": defines no function '") ||
      FormOf(task, program) != nullptr) {
    return;
  }
  for (const v1::ProgramForm& form : task.forms()) {
    if (form.language() != program.language()) continue;
    absl::StrAppend(&built->message, "; or give a single file of the form ", form.name(),
                    ", in which a line begins with '", absl::StrJoin(form.begins(), "' or '"), "'");
    if (!form.begins_not().empty()) {
      absl::StrAppend(&built->message, " and none with '",
                      absl::StrJoin(form.begins_not(), "' or '"), "'");
    }
  }
}

// Jobs that run compute-sanitizer.
bool HasInstruments(v1::JobKind kind) {
  return kind == v1::JOB_KIND_CONFIRM || kind == v1::JOB_KIND_EXAMINE;
}

// A failure says nothing about the candidate: a program may not assemble with delays added.
void TakeDelayed(absl::StatusOr<BuildResult> built, ProgramBuilds* builds) {
  if (built.ok() && built->outcome == v1::OUTCOME_PASSED) {
    builds->delayed = *std::move(built);
    return;
  }
  builds->delayed_absence =
      absl::StrCat("it could not be built with delays: ",
                   built.ok() ? absl::StrCat(v1::Outcome_Name(built->outcome), ": ", built->message)
                              : std::string(built.status().message()));
}

}  // namespace

absl::StatusOr<ProgramBuilds> BuildPrograms(const Toolchains& toolchains, const v1::JobSpec& spec,
                                            const v1::Task& task, const std::string& architecture,
                                            std::stop_token stop) {
  const v1::Language language = spec.candidate().language();
  const auto own = toolchains.find(language);
  if (own == toolchains.end()) {
    return absl::FailedPreconditionError(
        absl::StrCat("this worker has no toolchain for ", LanguageName(language)));
  }
  auto header = KernelHeader(task.definition(), task.device());
  if (!header.ok()) {
    return TaskFault(absl::StrCat("task ", task.name(), ": ", header.status().message()));
  }
  const BuildRequest of_candidate = {WithTaskEntry(task, spec.candidate()), *header, spec.limits(),
                                     architecture};
  if (spec.kind() == v1::JOB_KIND_BUILD) {
    ProgramBuilds alone;
    ASSIGN_OR_RETURN(alone.candidate, own->second->Build(of_candidate, stop));
    NameForms(task, spec.candidate(), &alone.candidate);
    return alone;
  }
  ASSIGN_OR_RETURN(const TrustedPrograms trusted, FindTrustedPrograms(task, spec));
  RETURN_IF_ERROR(CheckToolchain(toolchains, *trusted.reference,
                                 absl::StrCat("the reference of task ", task.name())));
  if (trusted.baseline != nullptr) {
    RETURN_IF_ERROR(CheckToolchain(toolchains, *trusted.baseline,
                                   absl::StrCat("the baseline of task ", task.name())));
  }

  // The candidate's failure and the caller's stop both cancel the other builds.
  std::stop_source stop_others;
  const std::stop_callback forward(stop, [&stop_others] { stop_others.request_stop(); });
  const auto start = [&](const v1::Sources& sources, const v1::Limits& limits,
                         const std::string& what) {
    Builder& builder = *toolchains.at(sources.language());
    return std::async(std::launch::async,
                      [&builder, &stop_others, what,
                       request = BuildRequest{sources, *header, limits, architecture}] {
                        return BuildRequired(builder, request, what, stop_others.get_token());
                      });
  };
  using Build = std::future<absl::StatusOr<BuildResult>>;
  const v1::Limits trusted_limits = WithDefaults(v1::Limits());
  Build reference_build =
      start(*trusted.reference, trusted_limits, absl::StrCat("task ", task.name(), ": reference"));
  std::optional<Build> baseline_build;
  if (trusted.baseline != nullptr) {
    baseline_build =
        start(*trusted.baseline, trusted_limits, absl::StrCat("task ", task.name(), ": baseline"));
  }
  std::vector<std::optional<Build>> rival_builds;
  absl::Status rivals_usable;
  for (const v1::Rival& rival : spec.rivals()) {
    rival_builds.emplace_back();
    if (!rival.has_sources()) {
      if (trusted.baseline == nullptr) {
        rivals_usable.Update(
            TaskFault(absl::StrCat("task ", task.name(), ": rival ", rival.rival_id(),
                                   " stands for a baseline that the task does not "
                                   "have")));
      }
    } else if (const absl::Status buildable = CheckToolchain(
                   toolchains, rival.sources(), absl::StrCat("rival ", rival.rival_id()));
               !buildable.ok()) {
      rivals_usable.Update(buildable);
    } else {
      rival_builds.back() = start(WithTaskEntry(task, rival.sources()), spec.limits(),
                                  absl::StrCat("rival ", rival.rival_id()));
    }
  }

  const auto start_variant = [&](BuildVariant variant) {
    BuildRequest request = of_candidate;
    request.variant = variant;
    return std::async(std::launch::async,
                      [&builder = *own->second, &stop_others, request = std::move(request)] {
                        return builder.Build(request, stop_others.get_token());
                      });
  };
  std::optional<Build> delayed_build;
  std::optional<Build> lined_build;
  if (HasInstruments(spec.kind()) && FactsOf(language).builds_instrumented) {
    delayed_build = start_variant(BuildVariant::kDelayed);
    lined_build = start_variant(BuildVariant::kLined);
  }

  ProgramBuilds builds;
  absl::StatusOr<BuildResult> candidate = own->second->Build(of_candidate, stop);
  const bool wanted =
      candidate.ok() && candidate->outcome == v1::OUTCOME_PASSED && rivals_usable.ok();
  if (!wanted) stop_others.request_stop();
  // Waits for every future, whatever the others' results.
  absl::Status others;
  const auto collect = [&others](Build& build, BuildResult* result) {
    absl::StatusOr<BuildResult> built = build.get();
    if (built.ok()) *result = *std::move(built);
    others.Update(built.status());
  };
  collect(reference_build, &builds.reference);
  if (baseline_build.has_value()) collect(*baseline_build, &builds.baseline.emplace());
  for (int i = 0; i < spec.rivals_size(); ++i) {
    std::optional<Build>& build = rival_builds[static_cast<size_t>(i)];
    builds.rivals.emplace_back();
    if (build.has_value()) {
      absl::StatusOr<BuildResult> built = build->get();
      if (built.ok()) builds.rivals.back() = *std::move(built);
      others.Update(IsTaskFault(built.status())
                        ? FaultOfRival(built.status(), spec.rivals(i).rival_id())
                        : built.status());
    } else if (builds.baseline.has_value()) {
      builds.rivals.back() = *builds.baseline;
    }
  }
  if (delayed_build.has_value()) TakeDelayed(delayed_build->get(), &builds);
  if (lined_build.has_value()) {
    absl::StatusOr<BuildResult> lined = lined_build->get();
    // Without this build reports only lack line numbers.
    if (lined.ok() && lined->outcome == v1::OUTCOME_PASSED) builds.lined = *std::move(lined);
  }
  if (!candidate.ok()) return candidate.status();
  builds.candidate = *std::move(candidate);
  NameForms(task, spec.candidate(), &builds.candidate);
  if (builds.candidate.outcome != v1::OUTCOME_PASSED) return builds;
  RETURN_IF_ERROR(rivals_usable);
  RETURN_IF_ERROR(others);
  return builds;
}

v1::Artifact ArtifactOf(const std::string& id, const BuildResult& build) {
  v1::Artifact artifact = build.loading;
  artifact.set_id(id);
  artifact.set_path(build.artifact_path);
  artifact.set_sha256(build.report.artifact_sha256());
  return artifact;
}

}  // namespace ksearch

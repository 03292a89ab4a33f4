#include "common/trusted_programs.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/job_kind.h"
#include "common/language.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

using SourcesList = google::protobuf::RepeatedPtrField<v1::Sources>;

bool NeedsReference(v1::JobKind kind) { return !TakesNoDevice(kind); }

bool NeedsBaseline(v1::JobKind kind) {
  return kind == v1::JOB_KIND_SCREEN || kind == v1::JOB_KIND_CONFIRM ||
         kind == v1::JOB_KIND_BASELINE;
}

void Name(const v1::Sources* sources, v1::TrustedProgram* program) {
  program->set_id(CandidateId(*sources));
  program->set_language(sources->language());
}

absl::StatusOr<const v1::Sources*> FindNamed(const v1::Task& task, const SourcesList& choices,
                                             absl::string_view field,
                                             const v1::TrustedProgram& program) {
  for (const v1::Sources& sources : choices) {
    if (sources.language() == program.language() && CandidateId(sources) == program.id()) {
      return &sources;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(field, ": task ", task.name(),
                                                 " has no such program as the job names, ",
                                                 program.id().substr(0, 64)));
}

}  // namespace

const v1::Sources* FindInLanguage(const SourcesList& choices, v1::Language language) {
  for (const v1::Sources& sources : choices) {
    if (sources.language() == language) return &sources;
  }
  return nullptr;
}

const v1::Sources* ChooseTrusted(const SourcesList& choices, v1::Language language) {
  const v1::Sources* const own = FindInLanguage(choices, language);
  if (own != nullptr) return own;
  return choices.empty() ? nullptr : &choices[0];
}

absl::Status CheckRunsTask(absl::string_view field, const v1::Task& task, v1::Language language) {
  if (!RunsOn(language, task.device())) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, ": ", LanguageName(language), " programs do not run on the device of task ",
        task.name(), ", a ", task.device() == v1::DEVICE_CLASS_CUDA ? "GPU" : "CPU"));
  }
  if (task.references().empty()) {
    return absl::InvalidArgumentError(absl::StrCat("task ", task.name(), " has no reference"));
  }
  return absl::OkStatus();
}

void NameTrustedPrograms(const v1::Task& task, v1::JobSpec* spec) {
  spec->clear_reference();
  spec->clear_baseline();
  const v1::Language language = spec->candidate().language();
  const v1::Sources* const reference = ChooseTrusted(task.references(), language);
  if (NeedsReference(spec->kind()) && reference != nullptr) {
    Name(reference, spec->mutable_reference());
  }
  const v1::Sources* const baseline = ChooseTrusted(task.baselines(), language);
  if (NeedsBaseline(spec->kind()) && baseline != nullptr) Name(baseline, spec->mutable_baseline());
}

absl::StatusOr<TrustedPrograms> FindTrustedPrograms(const v1::Task& task, const v1::JobSpec& spec) {
  TrustedPrograms programs;
  if (!NeedsReference(spec.kind())) return programs;
  const v1::Language language = spec.candidate().language();
  // A job that names its reference names its baseline, too, if it has one.
  if (spec.has_reference()) {
    ASSIGN_OR_RETURN(programs.reference,
                     FindNamed(task, task.references(), "reference", spec.reference()));
    if (spec.has_baseline()) {
      ASSIGN_OR_RETURN(programs.baseline,
                       FindNamed(task, task.baselines(), "baseline", spec.baseline()));
    }
    return programs;
  }
  programs.reference = ChooseTrusted(task.references(), language);
  if (programs.reference == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("task ", task.name(), " has no reference"));
  }
  if (NeedsBaseline(spec.kind())) programs.baseline = ChooseTrusted(task.baselines(), language);
  return programs;
}

}  // namespace ksearch

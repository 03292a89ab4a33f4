#include "coordinator/service/given_programs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// The time that FlashInfer-Bench allows a solution.
constexpr absl::Duration kCompiledPartsTime = absl::Minutes(5);

absl::Status ReadProgram(const TaskSuite& tasks, const std::string& task, const std::string& name,
                         absl::string_view field, v1::Sources* program) {
  if (name.empty()) return tasks.Adapt(task, program);
  if (program->files_size() > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": give files of a program or the name of a solution, not both"));
  }
  absl::StatusOr<v1::Sources> solution = tasks.LoadSolution(task, name);
  if (!solution.ok() && absl::StrContains(name, '.')) {
    return absl::Status(
        solution.status().code(),
        absl::StrCat(solution.status().message(),
                     "; a program in a file is given by its path: eval FILE, --rival FILE, run "
                     "--seed-solution FILE"));
  }
  RETURN_IF_ERROR(solution.status());
  *program = *std::move(solution);
  return absl::OkStatus();
}

// Returns true if a Python program compiles C++ or CUDA when it is first called, from files beside
// it or through torch: with torch's headers that takes a minute or two.
bool HasCompiledParts(const v1::Sources& program) {
  const LanguageFacts* const facts = FindLanguage(program.language());
  if (facts == nullptr || facts->toolkit != Toolkit::kPython) return false;
  return std::any_of(program.files().begin(), program.files().end(), [&](const auto& file) {
    const std::optional<v1::Language> language = LanguageOfPath(file.path());
    return (language.has_value() && *language != program.language()) ||
           absl::StrContains(file.content(), "cpp_extension");
  });
}

}  // namespace

absl::Status ReadPrograms(const TaskSuite& tasks, v1::EvaluateRequest* request) {
  RETURN_IF_ERROR(ReadProgram(tasks, request->task(), request->solution_name(), "sources",
                              request->mutable_sources()));
  if (request->has_rival() || !request->rival_solution_name().empty()) {
    RETURN_IF_ERROR(ReadProgram(tasks, request->task(), request->rival_solution_name(), "rival",
                                request->mutable_rival()));
  }
  const bool compiles = HasCompiledParts(request->sources()) || HasCompiledParts(request->rival());
  if (compiles && !request->limits().has_build_time()) {
    *request->mutable_limits()->mutable_build_time() = ToProto(kCompiledPartsTime);
  }
  request->clear_solution_name();
  request->clear_rival_solution_name();
  return absl::OkStatus();
}

absl::Status ReadMode(const TaskSuite& tasks, v1::EvaluateRequest* request, v1::Task* task) {
  if (request->suite_mode().empty()) return absl::OkStatus();
  const v1::MeasurePlan& plan = request->plan();
  const bool screens =
      request->kind() == v1::JOB_KIND_UNSPECIFIED || request->kind() == v1::JOB_KIND_SCREEN;
  if (!screens || request->workload_uuids_size() > 0 || plan.suite_clock() ||
      plan.suite_clock_checked() || plan.every_workload()) {
    return absl::InvalidArgumentError(
        "suite_mode: a mode decides what is done on which workloads: leave kind, workload_uuids "
        "and "
        "what plan says of suites unset");
  }
  RETURN_IF_ERROR(tasks.SetMode(request->task(), request->suite_mode(), request, task));
  request->clear_suite_mode();
  return absl::OkStatus();
}

absl::Status ReadSeed(const TaskSuite& tasks, v1::StartRunRequest* request) {
  v1::RunConfig& config = *request->mutable_config();
  const std::string& name = request->seed_solution_name();
  if (name.empty() && (config.seed_solution_size() == 0 || config.task().empty())) {
    return absl::OkStatus();
  }
  if (config.task().empty()) {
    return absl::InvalidArgumentError("config.task: is missing; a solution is one of a task");
  }
  v1::Sources seed;
  seed.set_language(config.language());
  *seed.mutable_files() = config.seed_solution();
  RETURN_IF_ERROR(ReadProgram(tasks, config.task(), name, "config.seed_solution", &seed));
  if (config.language() == v1::LANGUAGE_UNSPECIFIED) {
    config.set_language(seed.language());
  } else if (config.language() != seed.language()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "config.language is ", LanguageName(config.language()), ", and the seed is a program in ",
        LanguageName(seed.language()), " here: leave the language out, or give another seed"));
  }
  *config.mutable_seed_solution() = std::move(*seed.mutable_files());
  for (v1::SeedProgram& more : *config.mutable_seeds()) {
    v1::Sources program;
    program.set_language(config.language());
    *program.mutable_files() = more.files();
    RETURN_IF_ERROR(tasks.Adapt(config.task(), &program));
    *more.mutable_files() = std::move(*program.mutable_files());
  }
  request->clear_seed_solution_name();
  return absl::OkStatus();
}

}  // namespace ksearch

#include "cli/task/flashinfer_export.h"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/language.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/unique_fd.h"
#include "coordinator/suites/flashinfer/flashinfer_files.h"
#include "coordinator/suites/flashinfer/native_solution.h"
#include "coordinator/suites/flashinfer/python_parameters.h"
#include "coordinator/tasks/definition_json.h"
#include "coordinator/tasks/located_json.h"
#include "coordinator/tasks/workload_jsonl.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using Kind = LocatedJson::Kind;

constexpr char kAuthor[] = "ksearch";
constexpr char kEntry[] = "run";
constexpr size_t kHashDigits = 8;

absl::StatusOr<v1::Definition> FindDefinition(const std::string& folder, const std::string& name) {
  for (const std::string& path : FilesBelow(absl::StrCat(folder, "/definitions"), ".json")) {
    const auto text = ReadFile(path, kMaxDefinitionBytes);
    if (!text.ok()) continue;
    absl::StatusOr<v1::Definition> definition = ParseDefinitionJson(*text, path);
    if (definition.ok() && definition->name() == name) return definition;
  }
  return absl::NotFoundError(absl::StrCat("--out: ", folder, " has no definition '", name, "'"));
}

// The data set's own JSON of every workload of the definition, by uuid.
std::map<std::string, LocatedJson> FindWorkloads(const std::string& folder,
                                                 const std::string& name) {
  std::map<std::string, LocatedJson> workloads;
  for (const std::string& path : FilesBelow(absl::StrCat(folder, "/workloads"), ".jsonl")) {
    const auto text = ReadFile(path, kMaxWorkloadsBytes);
    if (!text.ok()) continue;
    for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
      const auto json = ParseLocatedJson(line, path);
      if (!json.ok() || json->kind != Kind::kObject) continue;
      const LocatedJson* const definition = json->Find("definition");
      const LocatedJson* const workload = json->Find("workload");
      if (definition == nullptr || definition->text != name || workload == nullptr ||
          workload->kind != Kind::kObject) {
        continue;
      }
      const LocatedJson* const uuid = workload->Find("uuid");
      if (uuid != nullptr) workloads.emplace(uuid->text, *workload);
    }
  }
  return workloads;
}

LocatedJson Texts(const std::vector<std::string>& texts) {
  LocatedJson json = LocatedJson::Array();
  for (const std::string& text : texts) json.items.push_back(LocatedJson::String(text));
  return json;
}

// Upstream writes infinities and NaNs as strings.
LocatedJson Number(double value) {
  if (std::isnan(value)) return LocatedJson::String("NaN");
  if (std::isinf(value)) return LocatedJson::String(value > 0 ? "Infinity" : "-Infinity");
  return LocatedJson::Float(value);
}

LocatedJson Evaluation(const v1::JobResult& confirmation, const v1::Correctness& correctness,
                       const v1::Comparison::PerWorkload& times, absl::Time now) {
  const v1::DeviceFingerprint& device = confirmation.device();
  LocatedJson json = LocatedJson::Object();
  json.Set("status", LocatedJson::String("PASSED"));
  LocatedJson& environment = json.Set("environment", LocatedJson::Object());
  environment.Set("hardware", LocatedJson::String(device.name()));
  LocatedJson& libs = environment.Set("libs", LocatedJson::Object());
  libs.Set("ksearch_harness", LocatedJson::String(device.harness_version()));
  libs.Set("toolkit", LocatedJson::String(device.toolkit()));
  json.Set("timestamp",
           LocatedJson::String(absl::FormatTime("%Y-%m-%dT%H:%M:%S", now, absl::UTCTimeZone())));
  json.Set("log", LocatedJson::String(""));
  LocatedJson& errors = json.Set("correctness", LocatedJson::Object());
  errors.Set("max_relative_error", Number(correctness.max_rel_error()));
  errors.Set("max_absolute_error", Number(correctness.max_abs_error()));
  LocatedJson& performance = json.Set("performance", LocatedJson::Object());
  performance.Set("latency_ms", LocatedJson::Float(times.candidate_median_us() / 1000));
  performance.Set("reference_latency_ms", LocatedJson::Float(times.rival_median_us() / 1000));
  performance.Set("speedup_factor",
                  LocatedJson::Float(times.rival_median_us() / times.candidate_median_us()));
  return json;
}

// A program in the form of a solution: what the spec says about it, and its files.
struct Program {
  std::string language;
  std::string entry_point;
  std::string binding;  // empty: none
  bool destination_passing = true;
  std::vector<v1::SourceFile> files;
};

absl::StatusOr<Program> PythonProgram(const v1::Definition& definition,
                                      const v1::Sources& sources) {
  if (sources.files_size() != 1) {
    return absl::InvalidArgumentError(
        "programs in Python of several files cannot be exported to FlashInfer-Bench yet");
  }
  const v1::SourceFile& file = sources.files(0);
  const std::optional<PythonParameters> parameters = ParametersOf(file.content(), kEntry);
  const int inputs = definition.inputs_size(), outputs = definition.outputs_size();
  // As in ksearch_runner.py: one that has nothing but defaults behind the inputs returns the
  // outputs.
  const bool returns = parameters.has_value() && !parameters->gathers &&
                       parameters->count >= inputs && parameters->without_default <= inputs;
  const bool writes = parameters.has_value() && !returns && !parameters->gathers &&
                      parameters->count >= inputs + outputs &&
                      parameters->without_default <= inputs + outputs;
  if (!returns && !writes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the program's run must take the ", inputs, " inputs of ", definition.name(),
                     ", or these and the ", outputs, " outputs, each by a parameter of its own"));
  }
  Program program;
  program.language = absl::StrContains(file.content(), "import triton") ? "triton" : "python";
  program.entry_point = absl::StrCat(file.path(), "::", kEntry);
  program.destination_passing = writes;
  program.files.push_back(file);
  return program;
}

absl::StatusOr<Program> NativeProgram(const v1::Definition& definition,
                                      const v1::Sources& sources) {
  ASSIGN_OR_RETURN(NativeSolution bound, BindToTorch(definition, sources));
  Program program;
  program.language = LanguageName(sources.language());  // upstream uses the same words
  program.entry_point = bound.entry_point;
  program.binding = "torch";
  program.files = std::move(bound.files);
  return program;
}

absl::StatusOr<std::string> SolutionJson(const v1::BestReply& best, const std::string& name,
                                         const v1::Definition& definition) {
  const bool python = FactsOf(best.sources().language()).toolkit == Toolkit::kPython;
  ASSIGN_OR_RETURN(const Program program, python ? PythonProgram(definition, best.sources())
                                                 : NativeProgram(definition, best.sources()));
  LocatedJson json = LocatedJson::Object();
  json.Set("name", LocatedJson::String(name));
  json.Set("definition", LocatedJson::String(definition.name()));
  json.Set("author", LocatedJson::String(kAuthor));
  json.Set("description",
           LocatedJson::String(absl::StrCat("Best program of run ", best.run_id(), ", candidate ",
                                            best.best().candidate_id())));
  LocatedJson& spec = json.Set("spec", LocatedJson::Object());
  spec.Set("language", LocatedJson::String(program.language));
  spec.Set("target_hardware", Texts({best.confirmation().device().name()}));
  spec.Set("entry_point", LocatedJson::String(program.entry_point));
  spec.Set("dependencies", LocatedJson::Array());
  spec.Set("destination_passing_style", LocatedJson::Bool(program.destination_passing));
  if (!program.binding.empty()) spec.Set("binding", LocatedJson::String(program.binding));
  LocatedJson& sources = json.Set("sources", LocatedJson::Array());
  for (const v1::SourceFile& file : program.files) {
    LocatedJson source = LocatedJson::Object();
    source.Set("path", LocatedJson::String(file.path()));
    source.Set("content", LocatedJson::String(file.content()));
    sources.items.push_back(std::move(source));
  }
  return WriteJson(json, 2) + "\n";
}

}  // namespace

absl::StatusOr<FlashInferExport> MakeFlashInferExport(const v1::BestReply& best,
                                                      const std::string& definition_name,
                                                      const std::string& folder, absl::Time now) {
  ASSIGN_OR_RETURN(const v1::Definition definition, FindDefinition(folder, definition_name));
  const v1::Comparison* const comparison = OverBaseline(best.confirmation());
  if (comparison == nullptr) {
    return absl::NotFoundError(
        "the confirmation of the run's best program was not compared with a baseline, so there are "
        "no times to export; add a baseline to the task");
  }
  FlashInferExport made;
  const std::string name = absl::StrCat(definition.name(), "_ksearch_",
                                        best.best().candidate_id().substr(0, kHashDigits));
  ASSIGN_OR_RETURN(made.solution, SolutionJson(best, name, definition));
  made.solution_path = absl::StrCat("solutions/", kAuthor, "/", definition.op_type(), "/",
                                    definition.name(), "/", name, ".json");
  made.traces_path =
      absl::StrCat("traces/", kAuthor, "/", definition.op_type(), "/", definition.name(), ".jsonl");
  const std::map<std::string, LocatedJson> workloads = FindWorkloads(folder, definition.name());
  std::map<std::string, v1::Correctness> correctness;
  for (const v1::WorkloadResult& result : best.confirmation().workloads()) {
    correctness[result.workload_uuid()] = result.correctness();
  }
  for (const v1::Comparison::PerWorkload& times : comparison->workloads()) {
    const auto workload = workloads.find(times.workload_uuid());
    // Upstream does not have the cases that ksearch adds, such as UUID_held_out.
    if (workload == workloads.end() || !(times.candidate_median_us() > 0)) continue;
    LocatedJson trace = LocatedJson::Object();
    trace.Set("definition", LocatedJson::String(definition.name()));
    trace.Set("workload", workload->second);
    trace.Set("solution", LocatedJson::String(name));
    trace.Set("evaluation",
              Evaluation(best.confirmation(), correctness[times.workload_uuid()], times, now));
    absl::StrAppend(&made.traces, WriteJson(trace, -1), "\n");
    ++made.workloads;
  }
  if (made.workloads == 0) {
    return absl::NotFoundError(absl::StrCat("no workload of ", definition.name(), " in ", folder,
                                            " was confirmed: is it the data set of the run?"));
  }
  return made;
}

absl::Status WriteFlashInferExport(const FlashInferExport& made, const std::string& folder) {
  const fs::path solution = fs::path(folder) / made.solution_path;
  const fs::path traces = fs::path(folder) / made.traces_path;
  std::error_code error;
  if (fs::exists(solution, error)) {
    return absl::AlreadyExistsError(
        absl::StrCat(solution.string(), " exists: this program was exported before"));
  }
  for (const fs::path& path : {solution, traces}) {
    fs::create_directories(path.parent_path(), error);
    if (error)
      return ErrnoStatus(error.value(), absl::StrCat("create ", path.parent_path().string()));
  }
  RETURN_IF_ERROR(WriteFileAtomically(solution.string(), made.solution));
  const UniqueFd file(::open(traces.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file.ok()) return ErrnoStatus(errno, absl::StrCat("open ", traces.string()));
  // A single write, so that concurrent appends do not mix within a line.
  if (::write(file.get(), made.traces.data(), made.traces.size()) !=
          static_cast<ssize_t>(made.traces.size()) ||
      ::fsync(file.get()) != 0) {
    return ErrnoStatus(errno, absl::StrCat("write ", traces.string()));
  }
  return absl::OkStatus();
}

}  // namespace ksearch

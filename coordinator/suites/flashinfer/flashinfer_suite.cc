#include "coordinator/suites/flashinfer/flashinfer_suite.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/kernel_header.h"
#include "common/names.h"
#include "common/status_macros.h"
#include "common/task_limits.h"
#include "common/textproto.h"
#include "common/utf8.h"
#include "coordinator/suites/flashinfer/evaluators/element_evaluators.h"
#include "coordinator/suites/flashinfer/evaluators/evaluator_table.h"
#include "coordinator/suites/flashinfer/flashinfer_files.h"
#include "coordinator/suites/flashinfer/flashinfer_programs.h"
#include "coordinator/suites/flashinfer/flashinfer_scores.h"
#include "coordinator/suites/flashinfer/flashinfer_solution.h"
#include "coordinator/suites/flashinfer/flashinfer_traces.h"
#include "coordinator/suites/flashinfer/python_outline.h"
#include "coordinator/suites/flashinfer/python_parameters.h"
#include "coordinator/suites/held_out_choice.h"
#include "coordinator/suites/lfs_pointer.h"
#include "coordinator/suites/problem_language.h"
#include "coordinator/suites/safetensors.h"
#include "coordinator/suites/suite_clock.h"
#include "coordinator/suites/suite_config.h"
#include "coordinator/suites/suite_mode.h"
#include "coordinator/suites/suite_words.h"
#include "coordinator/tasks/definition_json.h"
#include "coordinator/tasks/located_json.h"
#include "coordinator/tasks/near_names.h"
#include "coordinator/tasks/task_summary.h"
#include "coordinator/tasks/workload_check.h"
#include "coordinator/tasks/workload_jsonl.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxTitleBytes = 100;
constexpr SuiteWords kWords = {"FlashInfer-Bench's", "PASSED",        "INCORRECT_NUMERICAL",
                               "COMPILE_ERROR",      "RUNTIME_ERROR", "TIMEOUT",
                               kFlashInferTrials};
constexpr Evaluator kEvaluator = Evaluator::kFlashInferBench;
// The author whose solutions upstream compares others with.
constexpr char kBaselineAuthor[] = "baseline";
constexpr absl::string_view kSolutionEnding = ".json";
constexpr absl::string_view kEntry = "run";
constexpr size_t kMaxNameShown = 200;

struct Line {
  std::string file;
  int number = 0;
  std::string text;
};

struct Entry {
  std::string path;
  absl::StatusOr<v1::Definition> definition = absl::UnknownError("");
  std::vector<Line> lines;
};

// The suite draws integers only from [-1024, 1024), so hidden cases have none that are wider.
void DeclareIntegers(const v1::Definition& definition, v1::Workload* workload) {
  for (int i = 0; i < workload->inputs_size(); ++i) {
    const v1::DType dtype = definition.inputs(i).dtype();
    if (!workload->inputs(i).has_random() || workload->inputs(i).random().most() != 0 ||
        (dtype != v1::DTYPE_INT64 && dtype != v1::DTYPE_INT32 && dtype != v1::DTYPE_INT16)) {
      continue;
    }
    v1::RandomRecipe* const random = workload->mutable_inputs(i)->mutable_random();
    random->set_least(-1024);
    random->set_most(1023);
  }
}

// The definition that a line of workloads belongs to: as the line says, or else as its file is
// named.
std::string DefinitionOfLine(const Line& line) {
  const auto json = ParseLocatedJson(line.text, line.file, line.number);
  if (json.ok() && json->kind == LocatedJson::Kind::kObject) {
    const LocatedJson* const name = json->Find("definition");
    if (name != nullptr && name->kind == LocatedJson::Kind::kString) return name->text;
  }
  return fs::path(line.file).stem().string();
}

// Definitions have such names, and so have the files of data sets.
std::string NameOfFile(const fs::path& path) { return TaskNameFrom(path.stem().string()); }

// A path within the data set that leads nowhere else.
bool StaysWithin(absl::string_view path) {
  if (path.empty() || path[0] == '/') return false;
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part == "..") return false;
  }
  return true;
}

void AddProgram(const std::string& path, const std::string& text,
                google::protobuf::RepeatedPtrField<v1::Sources>* programs) {
  v1::Sources* const program = programs->Add();
  program->set_language(ProblemLanguage().id);
  v1::SourceFile* const file = program->add_files();
  file->set_path(path);
  file->set_content(text);
}

// Finds what no Python could run, before a worker tries. Workers find what is left.
absl::Status CheckReference(const v1::Definition& definition) {
  ASSIGN_OR_RETURN(const PythonOutline outline, OutlinePython(definition.reference_text()));
  const auto runs =
      std::count(outline.top_level_functions.begin(), outline.top_level_functions.end(), kEntry);
  if (runs == 0 && outline.complete) {
    return absl::InvalidArgumentError(
        absl::StrCat("defines no function ", kEntry, " at its top level"));
  }
  const auto parameters = ParametersOf(definition.reference_text(), kEntry);
  const int inputs = definition.inputs_size();
  if (runs == 1 && parameters.has_value() && parameters->plain && parameters->count != inputs &&
      parameters->count != inputs + definition.outputs_size()) {
    return absl::InvalidArgumentError(absl::StrCat(kEntry, " has ", parameters->count,
                                                   " parameters, and the definition has ", inputs,
                                                   " inputs"));
  }
  return absl::OkStatus();
}

std::string ReasonOf(const absl::Status& status) { return std::string(status.message()); }

v1::SolutionSummary SummaryOf(const FoundSolution& found) {
  v1::SolutionSummary summary;
  summary.set_name(found.name);
  summary.set_path(found.path);
  if (!found.solution.ok()) {
    summary.set_error(ReasonOf(found.solution.status()));
    return summary;
  }
  const FlashInferSolution& solution = *found.solution;
  summary.set_author(solution.author);
  summary.set_language(solution.language);
  summary.set_binding(BindingOf(solution));
  summary.set_description(solution.description);
  summary.mutable_target_hardware()->Assign(solution.target_hardware.begin(),
                                            solution.target_hardware.end());
  summary.mutable_dependencies()->Assign(solution.dependencies.begin(),
                                         solution.dependencies.end());
  for (std::string& package : PackagesFor(solution)) summary.add_packages(std::move(package));
  summary.set_is_baseline(solution.author == kBaselineAuthor);
  return summary;
}

absl::StatusOr<std::string> ReadText(const std::string& path, size_t max_bytes) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path, max_bytes));
  RETURN_IF_ERROR(CheckIsNoLfsPointer(path, text));
  return text;
}

class FlashInferSuite final : public TaskSuite {
 public:
  FlashInferSuite(fs::path root, v1::DeviceClass device, RecordedBlobs* blobs)
      : root_(std::move(root)), device_(device), blobs_(blobs) {}

  std::vector<v1::TaskSummary> List() const override {
    std::vector<v1::TaskSummary> summaries;
    for (const auto& [name, entry] : Entries()) {
      v1::TaskSummary summary;
      std::vector<std::string> left_out;
      BlobRanges ranges;
      const absl::StatusOr<v1::Task> task = Assemble(entry, &left_out, &ranges);
      if (task.ok()) {
        summary = SummarizeTask(*task);
      } else {
        summary.set_device(device_);
        summary.set_error(std::string(task.status().message()));
        if (entry.definition.ok()) {
          summary.set_op_type(entry.definition->op_type());
          *summary.mutable_tags() = entry.definition->tags();
        }
      }
      summary.set_name(name);
      summary.set_path(entry.path);
      summary.mutable_left_out()->Assign(left_out.begin(), left_out.end());
      summaries.push_back(std::move(summary));
    }
    return summaries;
  }

  absl::StatusOr<v1::Task> Load(const std::string& name) const override {
    ASSIGN_OR_RETURN(const Entry entry, Find(name));
    std::vector<std::string> left_out;
    BlobRanges ranges;
    ASSIGN_OR_RETURN(v1::Task task, Assemble(entry, &left_out, &ranges));
    for (const auto& [sha256, range] : ranges) RETURN_IF_ERROR(blobs_->Keep(sha256, range));
    return task;
  }

  absl::StatusOr<std::vector<v1::SolutionSummary>> Solutions(
      const std::string& name) const override {
    ASSIGN_OR_RETURN(const Entry entry, Find(name));
    const std::vector<FlashInferTrace> traces = FindTraces(root_.string(), name);
    std::vector<v1::SolutionSummary> summaries;
    for (const FoundSolution& found : FindSolutions(root_.string(), name)) {
      v1::SolutionSummary& summary = summaries.emplace_back(SummaryOf(found));
      if (found.solution.ok() && entry.definition.ok()) {
        const absl::Status usable =
            ProgramOfSolution(*found.solution, *entry.definition, device_).status();
        summary.set_error(ReasonOf(usable));
      }
      summary.set_recorded(RecordOf(traces, found.name));
    }
    return summaries;
  }

  absl::StatusOr<v1::Sources> LoadSolution(const std::string& name,
                                           const std::string& solution) const override {
    ASSIGN_OR_RETURN(const Entry entry, Find(name));
    RETURN_IF_ERROR(entry.definition.status());
    std::vector<std::string> names;
    for (const FoundSolution& found : FindSolutions(root_.string(), name)) {
      if (found.name == solution) return Program(found.solution, entry, found.path);
      names.push_back(found.name);
    }
    return absl::NotFoundError(
        absl::StrCat("no solution '", solution, "' of ", name, " in ", root_.string(),
                     names.empty() ? ", which has none of it" : "; nearest: ",
                     absl::StrJoin(NearNames(solution, names), ", ")));
  }

  absl::Status SetMode(const std::string& /*name*/, const std::string& mode,
                       v1::EvaluateRequest* request, v1::Task* /*task*/) const override {
    return SetOnlyMode("flashinfer-bench", mode, request);
  }

  std::vector<v1::SuiteScore> Scores(const std::string& name,
                                     const v1::JobResult& result) const override {
    const absl::StatusOr<v1::Task> task = Load(name);
    if (!task.ok()) return {};
    std::set<std::string> uuids, baselines;
    for (const v1::Workload& workload : task->workloads()) {
      // A copy that held_out_choice.h adds does not count.
      const size_t own = workload.uuid().rfind("_held_out");
      if (own == std::string::npos || uuids.count(workload.uuid().substr(0, own)) == 0) {
        uuids.insert(workload.uuid());
      }
    }
    for (const FoundSolution& found : FindSolutions(root_.string(), name)) {
      if (found.solution.ok() && found.solution->author == kBaselineAuthor) {
        baselines.insert(found.name);
      }
    }
    std::vector<v1::SuiteScore> scores = FlashInferScores(
        result, uuids, baselines,
        baselines.empty() ? std::vector<FlashInferTrace>() : FindTraces(root_.string(), name));
    if (auto verdict = VerdictScore(kWords, result)) {
      scores.insert(scores.begin(), *std::move(verdict));
    }
    if (auto time = ClockScore(ClockOf(kEvaluator), result)) scores.push_back(*std::move(time));
    return scores;
  }

  // The file of a solution also counts as a solution.
  absl::Status Adapt(const std::string& name, v1::Sources* sources) const override {
    if (sources->files_size() != 1 || !absl::EndsWith(sources->files(0).path(), kSolutionEnding)) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const Entry entry, Find(name));
    RETURN_IF_ERROR(entry.definition.status());
    const std::string path = sources->files(0).path();
    ASSIGN_OR_RETURN(
        *sources, Program(ParseFlashInferSolution(sources->files(0).content(), path), entry, path));
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<Entry> Find(const std::string& name) const {
    std::map<std::string, Entry> entries = Entries();
    const auto found = entries.find(name);
    if (found != entries.end()) return std::move(found->second);
    std::vector<std::string> names;
    for (const auto& [each, entry] : entries) names.push_back(each);
    return NotAmong("definition", name, root_.string(), names);
  }

  absl::StatusOr<v1::Sources> Program(const absl::StatusOr<FlashInferSolution>& solution,
                                      const Entry& entry, const std::string& path) const {
    RETURN_IF_ERROR(solution.status());
    absl::StatusOr<v1::Sources> program = ProgramOfSolution(*solution, *entry.definition, device_);
    if (!program.ok()) return Annotate(program.status(), path);
    return program;
  }

  // By name. A file that is not a definition is listed under its file name.
  std::map<std::string, Entry> Entries() const {
    std::map<std::string, Entry> entries;
    for (const std::string& path : FilesBelow((root_ / "definitions").string(), ".json")) {
      Entry entry;
      entry.path = path;
      const auto text = ReadText(path, kMaxDefinitionBytes);
      entry.definition = text.ok() ? ParseDefinitionJson(*text, path)
                                   : absl::StatusOr<v1::Definition>(text.status());
      const std::string name = entry.definition.ok() ? entry.definition->name() : NameOfFile(path);
      const auto [known, fresh] = entries.emplace(name, entry);
      if (!fresh) {
        known->second.definition = absl::InvalidArgumentError(
            absl::StrCat(path, ": the definition '", name, "' is in ", known->second.path, " too"));
      }
    }
    for (const std::string& path : FilesBelow((root_ / "workloads").string(), ".jsonl")) {
      AddLines(path, &entries);
    }
    return entries;
  }

  static void AddLines(const std::string& path, std::map<std::string, Entry>* entries) {
    const auto text = ReadText(path, kMaxWorkloadsBytes);
    if (!text.ok()) {
      const std::string name = NameOfFile(path);
      const auto found = entries->find(name);
      if (found != entries->end()) {
        found->second.lines.push_back({path, 0, ""});
      } else {
        entries->emplace(name, Entry{path, text.status(), {}});
      }
      return;
    }
    int number = 0;
    for (const absl::string_view each : absl::StrSplit(*text, '\n')) {
      ++number;
      if (absl::StripAsciiWhitespace(each).empty()) continue;
      Line line = {path, number, std::string(each)};
      const std::string definition = DefinitionOfLine(line);
      const auto found = entries->find(definition);
      if (found != entries->end()) {
        found->second.lines.push_back(std::move(line));
        continue;
      }
      const std::string place = absl::StrCat(path, ":", number);
      entries->emplace(TaskNameFrom(definition),
                       Entry{place,
                             absl::NotFoundError(absl::StrCat(
                                 place, ": no file below 'definitions' defines its definition, '",
                                 definition.substr(0, kMaxNameShown), "'")),
                             {}});
    }
  }

  // The ranges of the blobs' values, by name.
  using BlobRanges = std::map<std::string, FileRange>;

  // The task of a definition; `left_out` lists the lines that were left out, even after an error.
  absl::StatusOr<v1::Task> Assemble(const Entry& entry, std::vector<std::string>* left_out,
                                    BlobRanges* ranges) const {
    RETURN_IF_ERROR(entry.definition.status());
    const v1::Definition& definition = *entry.definition;
    v1::Task task;
    task.set_name(definition.name());
    task.set_device(device_);
    const std::string title = definition.description().substr(0, kMaxTitleBytes);
    task.set_title(title.substr(0, ValidUtf8Bytes(title)));
    *task.mutable_definition() = definition;
    *task.mutable_suite_clock() = ClockOf(kEvaluator);
    AddWorkloads(entry, &task, left_out, ranges);
    std::string reference = definition.reference_text();
    RETURN_IF_ERROR(Annotate(PoseByEvaluator(&task, &reference), entry.path));
    if (definition.reference_text().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(entry.path, ": reference: is missing, so nothing says what is right"));
    }
    RETURN_IF_ERROR(Annotate(CheckReference(definition), absl::StrCat(entry.path, ": reference")));
    const absl::StatusOr<std::string> header = KernelHeader(definition, device_);
    if (!header.ok()) return Annotate(header.status(), entry.path);
    if (entry.lines.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no line of ", (root_ / "workloads").string(), " is of this definition"));
    }
    if (task.workloads().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("none of its ", entry.lines.size(),
                       " workloads can be evaluated; the first: ", left_out->front()));
    }
    ChooseHeldOut(&task);
    // Upstream's own function is both: times are compared with "the mathematical reference".
    AddProgram("reference.py", reference, task.mutable_references());
    AddProgram("baseline.py", definition.reference_text(), task.mutable_baselines());
    return task;
  }

  void AddWorkloads(const Entry& entry, v1::Task* task, std::vector<std::string>* left_out,
                    BlobRanges* ranges) const {
    int64_t bytes_left = kMaxRecordedBytes;
    std::set<std::string> uuids;
    for (const Line& line : entry.lines) {
      absl::StatusOr<v1::Workload> workload =
          ReadLine(line, *entry.definition, &bytes_left, ranges);
      if (workload.ok() && !uuids.insert(workload->uuid()).second) {
        workload = absl::InvalidArgumentError(absl::StrCat(
            line.file, ":", line.number, ": an earlier line has the uuid ", workload->uuid()));
      }
      if (workload.ok()) {
        // There must be room for one more, which is held out.
        const absl::Status room =
            CheckWorkloadCount(entry.definition->name(), task->workloads_size() + 1);
        if (!room.ok()) workload = room;
      }
      if (workload.ok()) {
        *task->add_workloads() = *std::move(workload);
      } else {
        left_out->push_back(std::string(workload.status().message()));
      }
    }
  }

  absl::StatusOr<v1::Workload> ReadLine(const Line& line, const v1::Definition& definition,
                                        int64_t* bytes_left, BlobRanges* ranges) const {
    if (line.number == 0) return ReadText(line.file, kMaxWorkloadsBytes).status();
    ASSIGN_OR_RETURN(v1::Workload workload, ParseWorkloadLine(line.text, line.file, line.number,
                                                              definition, LeftOutInputs::kRandom));
    const std::string place = absl::StrCat("workload ", workload.uuid());
    RETURN_IF_ERROR(Annotate(CheckWorkload(definition, workload), place));
    const auto is_drawn = [&](const v1::InputRecipe& recipe) {
      return !recipe.has_safetensors() && !recipe.has_scalar();
    };
    if (std::none_of(workload.inputs().begin(), workload.inputs().end(), is_drawn)) {
      return absl::InvalidArgumentError(
          absl::StrCat(place,
                       ": every tensor is recorded, so that a program could remember its "
                       "answer; at least one must be random"));
    }
    int64_t left = *bytes_left;
    for (int i = 0; i < workload.inputs_size(); ++i) {
      v1::InputRecipe* const recipe = workload.mutable_inputs(i);
      if (!recipe->has_safetensors()) continue;
      absl::StatusOr<v1::RecordedRecipe> recorded = ReadRecorded(
          definition, workload, definition.inputs(i), recipe->safetensors(), left, ranges);
      if (!recorded.ok())
        return Annotate(recorded.status(), absl::StrCat(place, ": ", recipe->input()));
      left -= static_cast<int64_t>(recorded->values().size());
      *recipe->mutable_recorded() = *std::move(recorded);
    }
    *bytes_left = left;
    DeclareIntegers(definition, &workload);
    return workload;
  }

  absl::StatusOr<v1::RecordedRecipe> ReadRecorded(const v1::Definition& definition,
                                                  const v1::Workload& workload,
                                                  const v1::TensorSpec& tensor,
                                                  const v1::SafetensorsRecipe& recipe,
                                                  int64_t max_bytes, BlobRanges* ranges) const {
    if (!StaysWithin(recipe.path())) {
      return absl::InvalidArgumentError(
          absl::StrCat("path '", recipe.path(), "' leads out of the data set"));
    }
    ASSIGN_OR_RETURN(const std::vector<int64_t> shape, TensorShape(definition, workload, tensor));
    const std::string path = (root_ / fs::path(recipe.path())).lexically_normal().string();
    const std::string& key = recipe.tensor_key();
    ASSIGN_OR_RETURN(const FileRange range, FindSafetensor(path, key, tensor.dtype(), shape));
    v1::RecordedRecipe recorded;
    if (blobs_ == nullptr || range.bytes <= std::min(kMaxInlineTensorBytes, max_bytes)) {
      ASSIGN_OR_RETURN(*recorded.mutable_values(),
                       ReadSafetensor(path, key, tensor.dtype(), shape, max_bytes));
      return recorded;
    }
    if (range.bytes > kMaxBlobBytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          path, ": tensor '", key, "' of ", range.bytes, " bytes is larger than 16 GiB"));
    }
    ASSIGN_OR_RETURN(*recorded.mutable_sha256(), blobs_->NameOf(range));
    recorded.set_bytes(range.bytes);
    (*ranges)[recorded.sha256()] = range;
    return recorded;
  }

  const fs::path root_;
  const v1::DeviceClass device_;
  RecordedBlobs* const blobs_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TaskSuite>> MakeFlashInferSuite(const v1::SuiteConfig& config,
                                                               RecordedBlobs* blobs) {
  std::error_code error;
  const fs::path root = fs::absolute(config.path(), error).lexically_normal();
  if (!fs::exists(root, error)) {
    return absl::NotFoundError(absl::StrCat("path: ", config.path(), " does not exist"));
  }
  if (!fs::is_directory(root / "definitions", error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("path: ", config.path(),
                     " has no folder 'definitions', so it is not a data set of FlashInfer-Bench"));
  }
  return std::make_unique<FlashInferSuite>(root, DeviceOf(config), blobs);
}

}  // namespace ksearch

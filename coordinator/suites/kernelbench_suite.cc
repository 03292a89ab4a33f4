#include "coordinator/suites/kernelbench_suite.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/kernel_header.h"
#include "common/mean_times.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/utf8.h"
#include "coordinator/suites/held_out_choice.h"
#include "coordinator/suites/lfs_pointer.h"
#include "coordinator/suites/lies_below.h"
#include "coordinator/suites/module_programs.h"
#include "coordinator/suites/problem_description.h"
#include "coordinator/suites/problem_language.h"
#include "coordinator/suites/suite_clock.h"
#include "coordinator/suites/suite_config.h"
#include "coordinator/suites/suite_mode.h"
#include "coordinator/suites/suite_words.h"
#include "coordinator/tasks/near_names.h"
#include "coordinator/tasks/task_folder.h"
#include "coordinator/tasks/task_summary.h"
#include "coordinator/tasks/workload_check.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr char kReferenceClass[] = "Model";
constexpr char kEagerBaseline[] = "eager";
constexpr char kCompiledBaseline[] = "torch.compile";
// Tags, by which users can filter lists of tasks.
constexpr char kDegenerateTag[] = "degenerate";
constexpr char kUntestedTag[] = "admission-untested";
// Packages with which problems download models and configurations.
constexpr char kFromHub[] = "from_pretrained";
// The same number as in upstream's scripts.
constexpr int kTrials = 5;
// The first seeds for which make_inputs of python/module_inputs.py makes what only hidden cases
// have: other weights, and larger inputs besides.
constexpr double kUnusualSeeds[] = {0x1p32, 0x1p33};
constexpr SuiteWords kWords = {"KernelBench's", "correct", "incorrect", "not compiled",
                               "runtime error", "timeout", kTrials};

constexpr Evaluator kEvaluator = Evaluator::kKernelBench;

// The settings by which a suite's problems are posed and timed.
struct Settings {
  const ModulePrecision* precision = nullptr;
  bool compiled_baseline = false;
};

absl::StatusOr<Settings> ReadSettings(const v1::SuiteConfig& config) {
  Settings settings;
  settings.precision = FindModulePrecision(config.precision());
  if (settings.precision == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("precision: '", config.precision(), "' is not ", ModulePrecisionNames()));
  }
  const std::string& baseline = config.baseline();
  settings.compiled_baseline = baseline == kCompiledBaseline;
  if (!baseline.empty() && baseline != kEagerBaseline && !settings.compiled_baseline) {
    return absl::InvalidArgumentError(absl::StrCat("baseline: '", baseline, "' is not ",
                                                   kEagerBaseline, " or ", kCompiledBaseline));
  }
  return settings;
}

struct Problem {
  int level = 0;
  int number = 0;
  std::string title;
  std::string path;
  std::string also;  // another file of the same level and number; empty if there is none
  std::string name() const { return absl::StrCat("l", level, "/", number); }
  std::string definition() const { return absl::StrCat("kernelbench_l", level, "_", number); }
};

// Reads "<number>_<Name>.py"; false for other file names.
bool ReadFileName(const std::string& file, Problem* problem) {
  absl::string_view name = file;
  const size_t bar = name.find('_');
  if (bar == absl::string_view::npos || !absl::ConsumeSuffix(&name, ".py") ||
      !absl::SimpleAtoi(name.substr(0, bar), &problem->number) || problem->number < 1) {
    return false;
  }
  problem->title = absl::StrReplaceAll(name.substr(bar + 1), {{"_", " "}});
  return true;
}

// The problems of all folders level<L>, in the order of levels and numbers.
std::vector<Problem> FindProblems(const fs::path& root) {
  std::vector<Problem> problems;
  std::error_code error;
  for (fs::directory_iterator level(root, error), end; !error && level != end;
       level.increment(error)) {
    const std::string folder = level->path().filename().string();
    absl::string_view number = folder;
    Problem problem;
    if (!absl::ConsumePrefix(&number, "level") || !absl::SimpleAtoi(number, &problem.level) ||
        problem.level < 1) {
      continue;
    }
    std::error_code below;
    for (fs::directory_iterator file(level->path(), below); !below && file != end;
         file.increment(below)) {
      if (!ReadFileName(file->path().filename().string(), &problem)) continue;
      problem.path = file->path().string();
      problems.push_back(problem);
    }
  }
  std::sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.level, a.number, a.path) < std::tie(b.level, b.number, b.path);
  });
  for (size_t i = 1; i < problems.size(); ++i) {
    if (problems[i].name() != problems[i - 1].name()) continue;
    problems[i].also = problems[i - 1].path;
    if (problems[i - 1].also.empty()) problems[i - 1].also = problems[i].path;
  }
  return problems;
}

// Returns true if the data set's files (parquet) lie in the folder or one below it.
bool HasDataSetFiles(const fs::path& root) {
  constexpr int kDeepest = 3;
  std::error_code error;
  if (fs::is_regular_file(root, error)) return root.extension() == ".parquet";
  for (fs::recursive_directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".parquet") return true;
    if (entry.depth() >= kDeepest) entry.disable_recursion_pending();
  }
  return false;
}

class KernelBenchSuite final : public TaskSuite {
 public:
  KernelBenchSuite(fs::path root, std::string name, v1::DeviceClass device,
                   const Settings& settings, const Descriptions* descriptions)
      : root_(std::move(root)),
        name_(std::move(name)),
        device_(device),
        settings_(settings),
        descriptions_(*descriptions) {}

  std::vector<v1::TaskSummary> List() const override {
    std::vector<v1::TaskSummary> summaries;
    for (const Problem& problem : FindProblems(root_)) {
      v1::TaskSummary summary;
      const absl::StatusOr<v1::Task> task = LoadProblem(problem);
      if (task.ok()) {
        summary = SummarizeTask(*task);
      } else {
        summary.set_device(device_);
        summary.set_error(std::string(task.status().message()));
      }
      summary.set_name(problem.name());
      summary.set_title(problem.title);
      summary.set_level(absl::StrCat("l", problem.level));
      summary.set_path(problem.path);
      summaries.push_back(std::move(summary));
    }
    return summaries;
  }

  absl::StatusOr<v1::Task> Load(const std::string& name) const override {
    ASSIGN_OR_RETURN(const Problem problem, Find(name));
    return LoadProblem(problem);
  }

  absl::StatusOr<ProblemProgram> DescribingProgramOf(const std::string& name) const override {
    ASSIGN_OR_RETURN(const Problem problem, Find(name));
    ASSIGN_OR_RETURN(const std::string text, ReadText(problem));
    RETURN_IF_ERROR(CheckNeedsNoHub(problem, text));
    return ProblemProgram{DescribingProgram(text, *settings_.precision), device_};
  }

  absl::StatusOr<v1::SourceFile> ToUpstream(const std::string& name,
                                            const v1::Sources& program) const override {
    ASSIGN_OR_RETURN(const Problem problem, Find(name));
    ASSIGN_OR_RETURN(const std::string text, ReadText(problem));
    ASSIGN_OR_RETURN(const ProblemDescription description, Described(problem, text));
    v1::Task task;
    task.mutable_definition()->set_name(problem.definition());
    FreezeDescription(description, &task);
    ASSIGN_OR_RETURN(std::string file, ModelNewFile(text, task.definition(), description,
                                                    *settings_.precision, program));
    v1::SourceFile upstream;
    upstream.set_path(
        absl::StrCat("level_", problem.level, "_problem_", problem.number, "_sample_0_kernel.py"));
    upstream.set_content(std::move(file));
    return upstream;
  }

  absl::Status SetMode(const std::string& /*name*/, const std::string& mode,
                       v1::EvaluateRequest* request, v1::Task* /*task*/) const override {
    return SetOnlyMode("KernelBench's evaluator", mode, request);
  }

  // Upstream's `runtime` is a mean, too, of 100 calls on one set of inputs.
  std::vector<v1::SuiteScore> Scores(const std::string& /*name*/,
                                     const v1::JobResult& judged) const override {
    std::vector<v1::SuiteScore> scores;
    if (auto verdict = VerdictScore(kWords, judged)) scores.push_back(*std::move(verdict));
    const v1::JobResult result = OfficialCases(judged);
    if (auto time = ClockScore(ClockOf(kEvaluator), result)) scores.push_back(*std::move(time));
    const double candidate_us = GeometricMeanOfMeans(result, /*baseline=*/false);
    const double baseline_us = GeometricMeanOfMeans(result, /*baseline=*/true);
    if (!(candidate_us > 0) || !(baseline_us > 0)) return scores;
    v1::SuiteScore score;
    score.set_name(absl::StrCat("KernelBench's speed-up over ",
                                settings_.compiled_baseline ? kCompiledBaseline : kEagerBaseline,
                                ", by means"));
    score.set_value(baseline_us / candidate_us);
    score.set_unit("x");
    score.set_note("each call on inputs of its own");
    scores.push_back(std::move(score));
    return scores;
  }

 private:
  absl::StatusOr<Problem> Find(const std::string& name) const {
    std::vector<std::string> names;
    for (const Problem& problem : FindProblems(root_)) {
      if (problem.name() == name) return problem;
      names.push_back(problem.name());
    }
    return NotAmong("problem", name, root_.string(), names);
  }

  absl::StatusOr<std::string> ReadText(const Problem& problem) const {
    if (!problem.also.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat(problem.path, ": ", fs::path(problem.also).filename().string(),
                       " has the same number; rename one of the two"));
    }
    std::error_code error;
    const fs::path path = fs::weakly_canonical(problem.path, error);
    if (error || !LiesBelow(path, fs::weakly_canonical(root_, error))) {
      return absl::InvalidArgumentError(absl::StrCat(
          problem.path, ": is a link to a file outside of ", root_.string(), "; copy that file"));
    }
    ASSIGN_OR_RETURN(std::string text, ReadFile(problem.path, kMaxTaskSourceBytes / 2));
    RETURN_IF_ERROR(CheckIsNoLfsPointer(problem.path, text));
    if (const size_t good = ValidSourceBytes(text); good < text.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          problem.path, ": is not source text in UTF-8: see byte ", good, " of ", text.size()));
    }
    return text;
  }

  // Level 4: whole models, whose weights and configurations upstream fetches when it makes them.
  static absl::Status CheckNeedsNoHub(const Problem& problem, const std::string& text) {
    if (!absl::StrContains(text, absl::StrCat(kFromHub, "("))) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(problem.path, ": loads a model from the Hugging Face hub (", kFromHub,
                     "), and workers run problems without a network"));
  }

  absl::StatusOr<ProblemDescription> Described(const Problem& problem,
                                               const std::string& text) const {
    ASSIGN_OR_RETURN(const auto result,
                     descriptions_.Find({DescribingProgram(text, *settings_.precision), device_}));
    if (!result.has_value()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "not described yet: run `ksearch task describe ", name_, "/", problem.name(), "`"));
    }
    if (result->outcome() != v1::OUTCOME_PASSED) {
      return absl::InvalidArgumentError(
          absl::StrCat(problem.path, ": describing it failed: ", result->message()));
    }
    return ParseProblemDescription(result->description(), problem.path);
  }

  absl::StatusOr<v1::Task> LoadProblem(const Problem& problem) const {
    ASSIGN_OR_RETURN(const std::string text, ReadText(problem));
    RETURN_IF_ERROR(CheckNeedsNoHub(problem, text));
    ASSIGN_OR_RETURN(const ProblemDescription description, Described(problem, text));
    v1::Task task;
    task.set_name(problem.name());
    task.set_title(problem.title);
    task.set_device(device_);
    v1::Definition* const definition = task.mutable_definition();
    definition->set_name(problem.definition());
    definition->set_op_type(absl::StrCat("kernelbench_l", problem.level));
    definition->set_description(problem.title);
    definition->set_reference_text(text);
    FreezeDescription(description, &task);
    task.mutable_tolerance()->set_atol(settings_.precision->tolerance);
    task.mutable_tolerance()->set_rtol(settings_.precision->tolerance);
    task.mutable_tolerance()->set_sum_of_bounds(true);
    v1::SuiteRule* const rule = task.mutable_suite_rule();
    rule->set_rule(v1::SuiteRule::TORCH_ALLCLOSE);
    rule->set_atol(settings_.precision->tolerance);
    rule->set_rtol(settings_.precision->tolerance);
    rule->set_trials(kTrials);
    *task.mutable_suite_clock() = ClockOf(kEvaluator);
    if (!description.degenerate.empty()) {
      definition->add_tags(kDegenerateTag);
      task.set_degenerate(absl::StrCat("what passes at tolerance ", settings_.precision->tolerance,
                                       ": ", description.degenerate));
    }
    if (!description.untested.empty()) definition->add_tags(kUntestedTag);
    *task.add_forms() = ModelNewForm(description, *settings_.precision);
    const absl::StatusOr<std::string> header = KernelHeader(*definition, device_);
    if (!header.ok()) return Annotate(header.status(), problem.path);
    RETURN_IF_ERROR(Annotate(CheckWorkload(*definition, task.workloads(0)), problem.path));
    ChooseHeldOut(&task);
    for (const DescribedTensor& tensor : description.parameters) {
      // Weights that begin as one number are learned, and no program may take them for that.
      if (!tensor.IsConstant()) task.mutable_hidden()->add_keep(tensor.name);
    }
    for (const DescribedTensor& tensor : description.buffers) {
      task.mutable_hidden()->add_keep(tensor.name);
    }
    if (description.made) {
      v1::HiddenSettings::FreeScalar* const seeds = task.mutable_hidden()->add_scalars();
      seeds->set_input("seed");
      for (const double first : kUnusualSeeds) seeds->add_values(first);
    }
    const auto program = [&](const ModuleCall& call) {
      v1::Sources sources;
      sources.set_language(ProblemLanguage().id);
      v1::SourceFile* const file = sources.add_files();
      file->set_path("reference.py");
      file->set_content(absl::StrCat(text, absl::EndsWith(text, "\n") ? "" : "\n",
                                     ModuleEntry(call, description, *settings_.precision)));
      return sources;
    };
    *task.add_references() = program({.class_name = kReferenceClass, .reference = true});
    *task.add_baselines() = program(
        {.class_name = kReferenceClass, .baseline = true, .compiled = settings_.compiled_baseline});
    return task;
  }

  const fs::path root_;
  const std::string name_;
  const v1::DeviceClass device_;
  const Settings settings_;
  const Descriptions& descriptions_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TaskSuite>> MakeKernelBenchSuite(const v1::SuiteConfig& config,
                                                                const Descriptions* descriptions) {
  std::error_code error;
  fs::path root = fs::absolute(config.path(), error).lexically_normal();
  if (!fs::exists(root, error)) {
    return absl::NotFoundError(absl::StrCat("path: ", config.path(), " does not exist"));
  }
  if (fs::is_directory(root / "KernelBench", error)) root /= "KernelBench";
  if (FindProblems(root).empty()) {
    if (HasDataSetFiles(root)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "path: ", config.path(),
          " holds KernelBench's data set; write it as files of problems with `python3 -m "
          "ksearch_suites.kernelbench ",
          config.path(), " --out FOLDER` and give FOLDER"));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "path: ", config.path(),
        " has no problem level<L>/<N>_<Name>.py, so it is not a checkout of KernelBench"));
  }
  ASSIGN_OR_RETURN(const Settings settings, ReadSettings(config));
  return std::make_unique<KernelBenchSuite>(root, NameOf(config), DeviceOf(config), settings,
                                            descriptions);
}

}  // namespace ksearch

#include "coordinator/suites/gpumode/gpumode_suite.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/mean_times.h"
#include "common/names.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/utf8.h"
#include "coordinator/suites/gpumode/gpumode_description.h"
#include "coordinator/suites/gpumode/gpumode_modes.h"
#include "coordinator/suites/gpumode/gpumode_problem.h"
#include "coordinator/suites/gpumode/gpumode_programs.h"
#include "coordinator/suites/gpumode/located_yaml.h"
#include "coordinator/suites/gpumode/upstream_arguments.h"
#include "coordinator/suites/problem_language.h"
#include "coordinator/suites/suite_clock.h"
#include "coordinator/suites/suite_config.h"
#include "coordinator/suites/suite_words.h"
#include "coordinator/tasks/near_names.h"
#include "coordinator/tasks/task_summary.h"
#include "coordinator/tasks/workload_check.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using Kind = LocatedJson::Kind;

// Below the folder of problems.
constexpr int kMaxDepth = 3;
constexpr size_t kMaxTitleBytes = 100;
constexpr SuiteWords kWords = {"GPU MODE's", "pass", "fail", "fail", "fail", "timeout", 1};

// A problem's folder and name.
struct Place {
  std::string name;
  std::string set;  // named by its .yaml file, or the folder above the problem's own
  fs::path folder;
  std::string fault;  // why the problem cannot be used, whatever its files say
};

// Returns true for anything of that name; reading it reports what is not a file.
bool HasProblem(const fs::path& folder) {
  std::error_code error;
  return fs::exists(fs::symlink_status(folder / kGpuModeTaskFile, error));
}

std::vector<fs::path> SortedEntries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

// Names of problems by folder, from the lists of sets. A file that cannot be read is a fault and
// names nothing: its problems are still there, under the names of their folders.
std::map<fs::path, Place> NamesOfSets(const fs::path& root, std::vector<Place>* faults) {
  std::map<fs::path, Place> places;
  std::set<std::string> faulty;
  const auto add_fault = [&](const std::string& name, const fs::path& list,
                             const absl::Status& status) {
    const std::string set = TaskNameFrom(list.stem().string());
    const std::string& shown = name.empty() ? set : name;
    if (!faulty.insert(shown).second) return;
    faults->push_back({shown, set, root, std::string(status.message())});
  };
  for (const fs::path& path : SortedEntries(root)) {
    if (path.extension() != ".yaml") continue;
    const absl::StatusOr<std::string> text = ReadFile(path.string(), kMaxYamlBytes);
    if (!text.ok()) {
      add_fault("", path, text.status());
      continue;
    }
    const absl::StatusOr<LocatedJson> set = ParseLocatedYaml(*text, path.string());
    if (!set.ok()) {
      add_fault("", path, set.status());
      continue;
    }
    if (set->kind != Kind::kObject) continue;
    const LocatedJson* const problems = set->Find("problems");
    if (problems == nullptr || problems->kind != Kind::kArray) continue;
    for (const LocatedJson& each : problems->items) {
      if (each.kind != Kind::kObject) continue;
      const LocatedJson* const directory = each.Find("directory");
      const LocatedJson* const name = each.Find("name");
      if (directory == nullptr || directory->kind != Kind::kString || name == nullptr ||
          name->kind != Kind::kString || !IsTaskName(name->text)) {
        continue;
      }
      const fs::path folder = (root / directory->text).lexically_normal();
      if (!HasProblem(folder)) {
        add_fault(name->text, path,
                  JsonFields(path.string(), each, "problems")
                      .Error("directory", absl::StrCat("'", directory->text, "' has no file ",
                                                       kGpuModeTaskFile)));
        continue;
      }
      places.emplace(folder, Place{name->text, TaskNameFrom(path.stem().string()), folder, ""});
    }
  }
  return places;
}

void FindBelow(const fs::path& folder, int depth, std::vector<fs::path>* found) {
  for (const fs::path& path : SortedEntries(folder)) {
    std::error_code error;
    if (!fs::is_directory(path, error)) continue;
    if (HasProblem(path)) {
      found->push_back(path);
    } else if (depth < kMaxDepth) {
      FindBelow(path, depth + 1, found);
    }
  }
}

// Sorted by name, and after them what is wrong with lists. The first of two with the same name
// keeps it; the other's gets its set's name.
std::vector<Place> FindPlaces(const fs::path& root) {
  if (HasProblem(root)) return {{TaskNameFrom(root.filename().string()), "", root, ""}};
  std::vector<Place> places, faults;
  const std::map<fs::path, Place> named = NamesOfSets(root, &faults);
  std::vector<fs::path> folders;
  FindBelow(root, 1, &folders);
  std::set<std::string> names;
  for (const bool listed : {true, false}) {
    for (const fs::path& folder : folders) {
      const auto known = named.find(folder);
      if ((known != named.end()) != listed) continue;
      const std::string own = folder.filename().string();
      const std::string set = TaskNameFrom(folder.parent_path().filename().string());
      Place place = listed ? known->second : Place{TaskNameFrom(own), set, folder, ""};
      if (!listed && own != place.name) {
        place.fault = absl::StrCat(folder.string(),
                                   ": the names of tasks hold only letters, digits, '_', '.' and "
                                   "'-', so rename the folder, or give the problem a name in the "
                                   "list of its set");
      }
      if (!names.insert(place.name).second) {
        place.name = absl::StrCat(place.set, ".", place.name);
        for (int i = 2; !names.insert(place.name).second; ++i) {
          place.name = absl::StrCat(place.set, ".", TaskNameFrom(own), ".", i);
        }
      }
      places.push_back(std::move(place));
    }
  }
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.name < b.name; });
  for (Place& fault : faults) {
    if (!names.insert(fault.name).second) fault.name += ".yaml";
    places.push_back(std::move(fault));
  }
  return places;
}

// The first line of a description, as a title.
std::string TitleOf(const GpuModeProblem& problem, const std::string& name) {
  std::string title = problem.description.substr(0, problem.description.find('\n'));
  title = title.substr(0, kMaxTitleBytes);
  title = title.substr(0, ValidUtf8Bytes(title));
  return title.empty() ? name : title;
}

// Returns true if some workloads are held out, and some are not.
bool HasBothKinds(const v1::Task& task) {
  const auto held_out = std::count_if(task.workloads().begin(), task.workloads().end(),
                                      [](const v1::Workload& each) { return each.held_out(); });
  return held_out > 0 && held_out < task.workloads_size();
}

// Takes the cases out of the problem that are no workloads of its task.
void KeepWorkloads(const v1::Task& task, GpuModeProblem* problem) {
  std::set<std::string> kept;
  for (const v1::Workload& workload : task.workloads()) kept.insert(workload.uuid());
  std::erase_if(problem->cases,
                [&](const GpuModeCase& each) { return kept.count(each.uuid) == 0; });
}

class GpuModeSuite final : public TaskSuite {
 public:
  GpuModeSuite(fs::path root, fs::path reads, std::string name, v1::DeviceClass device,
               const Descriptions* descriptions)
      : root_(std::move(root)),
        reads_(std::move(reads)),
        name_(std::move(name)),
        device_(device),
        descriptions_(*descriptions) {}

  std::vector<v1::TaskSummary> List() const override {
    std::vector<v1::TaskSummary> summaries;
    for (const Place& place : FindPlaces(root_)) {
      v1::TaskSummary summary;
      absl::StatusOr<GpuModeProblem> problem = Read(place);
      const absl::StatusOr<v1::Task> task =
          problem.ok() ? Assemble(place, &*problem) : absl::StatusOr<v1::Task>(problem.status());
      if (task.ok()) {
        summary = SummarizeTask(*task);
      } else {
        summary.set_device(device_);
        summary.set_error(std::string(task.status().message()));
      }
      summary.set_name(place.name);
      summary.set_title(problem.ok() ? TitleOf(*problem, place.name) : place.name);
      summary.set_level(place.set);
      summary.set_path((place.folder / kGpuModeTaskFile).string());
      if (problem.ok()) {
        for (const std::string& reason : problem->left_out) summary.add_left_out(reason);
      }
      summaries.push_back(std::move(summary));
    }
    return summaries;
  }

  absl::StatusOr<v1::Task> Load(const std::string& name) const override {
    ASSIGN_OR_RETURN(const Place place, Find(name));
    ASSIGN_OR_RETURN(GpuModeProblem problem, Read(place));
    return Assemble(place, &problem);
  }

  absl::StatusOr<ProblemProgram> DescribingProgramOf(const std::string& name) const override {
    ASSIGN_OR_RETURN(const Place place, Find(name));
    ASSIGN_OR_RETURN(const GpuModeProblem problem, Read(place));
    return ProblemProgram{GpuModeDescribingProgram(problem), device_};
  }

  absl::Status SetMode(const std::string& name, const std::string& mode,
                       v1::EvaluateRequest* request, v1::Task* task) const override {
    ASSIGN_OR_RETURN(const Place place, Find(name));
    ASSIGN_OR_RETURN(GpuModeProblem problem, Read(place));
    absl::StatusOr<std::vector<GpuModeCase>> cases = CasesAsUpstreamReads(problem);
    if (!cases.ok()) return Annotate(cases.status(), "suite_mode");
    if (SameArguments(*cases, problem.cases)) {
      KeepWorkloads(*task, &problem);
      return SetGpuModeMode(problem, mode, request);
    }
    absl::StatusOr<GpuModeDescription> description =
        Described(place, problem, ParseUpstreamsDescription);
    if (!description.ok()) {
      return Annotate(description.status(), "suite_mode: with the arguments of upstream's eval.py");
    }
    problem.cases = *std::move(cases);
    TakeArguments(*description, &problem);
    LeaveOutRepeating(&*description, &problem);
    RETURN_IF_ERROR(SetGpuModeMode(problem, mode, request));
    ASSIGN_OR_RETURN(*task, Assemble(place, problem, *description));
    return absl::OkStatus();
  }

  // Upstream's score of a leaderboard that is ranked by `geom`.
  std::vector<v1::SuiteScore> Scores(const std::string& name,
                                     const v1::JobResult& judged) const override {
    std::vector<v1::SuiteScore> scores;
    if (auto verdict = VerdictScore(kWords, judged)) scores.push_back(*std::move(verdict));
    const v1::JobResult result = OfficialCases(judged);
    // Both of its clocks have one name.
    if (auto time = ClockScore(ClockOf(Evaluator::kGpuMode), result)) {
      scores.push_back(*std::move(time));
    }
    if (const auto place = Find(name); place.ok()) {
      const auto problem = Read(*place);
      if (auto score = problem.ok() ? LeaderboardScore(*problem, judged) : std::nullopt) {
        scores.push_back(*std::move(score));
      }
    }
    const double candidate_us = GeometricMeanOfMeans(result, /*baseline=*/false);
    if (!(candidate_us > 0)) return scores;
    v1::SuiteScore score;
    score.set_name(absl::StrCat("GPU MODE's geometric mean of means, ", result.workloads_size(),
                                result.workloads_size() == 1 ? " benchmark" : " benchmarks"));
    score.set_value(candidate_us);
    score.set_unit("us");
    score.set_note("each call on inputs of its own");
    scores.push_back(std::move(score));
    return scores;
  }

 private:
  absl::StatusOr<GpuModeProblem> Read(const Place& place) const {
    if (!place.fault.empty()) return absl::InvalidArgumentError(place.fault);
    return ReadGpuModeProblem(place.folder, reads_);
  }

  absl::StatusOr<Place> Find(const std::string& name) const {
    std::vector<std::string> names;
    for (const Place& place : FindPlaces(root_)) {
      if (place.name == name) return place;
      names.push_back(place.name);
    }
    return NotAmong("problem", name, root_.string(), names);
  }

  // `parse` reads one of the descriptions that a worker made.
  absl::StatusOr<GpuModeDescription> Described(const Place& place, const GpuModeProblem& problem,
                                               decltype(ParseGpuModeDescription)& parse) const {
    const std::string path = place.folder.string();
    ASSIGN_OR_RETURN(const auto result,
                     descriptions_.Find({GpuModeDescribingProgram(problem), device_}));
    if (!result.has_value()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "not described yet: run `ksearch task describe ", name_, "/", place.name, "`"));
    }
    if (result->outcome() != v1::OUTCOME_PASSED) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": describing it failed: ", result->message()));
    }
    return parse(result->description(), path, problem.cases.size());
  }

  // Takes cases out of the problem that cannot be workloads.
  absl::StatusOr<v1::Task> Assemble(const Place& place, GpuModeProblem* problem) const {
    ASSIGN_OR_RETURN(GpuModeDescription description,
                     Described(place, *problem, ParseGpuModeDescription));
    TakeArguments(description, problem);
    LeaveOutRepeating(&description, problem);
    return Assemble(place, *problem, description);
  }

  absl::StatusOr<v1::Task> Assemble(const Place& place, const GpuModeProblem& problem,
                                    const GpuModeDescription& description) const {
    v1::Task task;
    task.set_name(place.name);
    task.set_title(TitleOf(problem, place.name));
    task.set_device(device_);
    v1::Definition* const definition = task.mutable_definition();
    definition->set_name(absl::StrCat("gpumode_", place.name));
    definition->set_op_type(absl::StrCat("gpumode", place.set.empty() ? "" : "_", place.set));
    definition->set_description(problem.description);
    definition->set_reference_text(problem.FindFile(kGpuModeReferenceFile)->content());
    FreezeGpuMode(description, problem.cases, &task);
    const std::string path = place.folder.string();
    const absl::StatusOr<std::string> header = KernelHeader(*definition, device_);
    if (!header.ok()) return Annotate(header.status(), path);
    for (const v1::Workload& workload : task.workloads()) {
      RETURN_IF_ERROR(Annotate(CheckWorkload(*definition, workload), path));
    }
    *task.mutable_suite_clock() =
        ClockOf(problem.clears_cache ? Evaluator::kGpuModeCold : Evaluator::kGpuMode);
    // Upstream ranks by its benchmarks; tests are small, odd sizes for correctness.
    if (HasBothKinds(task)) {
      task.mutable_objective()->set_ranked(v1::Objective::RANKED_OFFICIAL);
    }
    // Upstream has no other program to compare with.
    *task.add_references() = GpuModeReference(problem, description);
    *task.add_baselines() = GpuModeBaseline(problem, description);
    *task.add_forms() = GpuModeSubmissionForm(problem, description);
    return task;
  }

  const fs::path root_;
  const fs::path reads_;  // what problems name must lie below
  const std::string name_;
  const v1::DeviceClass device_;
  const Descriptions& descriptions_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TaskSuite>> MakeGpuModeSuite(const v1::SuiteConfig& config,
                                                            const Descriptions* descriptions) {
  std::error_code error;
  fs::path root = fs::absolute(config.path(), error).lexically_normal();
  if (!root.has_filename()) root = root.parent_path();
  if (!fs::exists(root, error)) {
    return absl::NotFoundError(absl::StrCat("path: ", config.path(), " does not exist"));
  }
  if (!HasProblem(root) && fs::is_directory(root / "problems", error)) root /= "problems";
  const std::vector<Place> places = FindPlaces(root);
  if (std::none_of(places.begin(), places.end(),
                   [](const Place& each) { return HasProblem(each.folder); })) {
    return absl::InvalidArgumentError(
        absl::StrCat("path: ", config.path(), " has no folder with a ", kGpuModeTaskFile,
                     ", so it is not a checkout of reference-kernels"));
  }
  // Problems share files with the sets beside theirs.
  const fs::path reads = HasProblem(root) ? root.parent_path().parent_path() : root;
  return std::make_unique<GpuModeSuite>(root, reads, NameOf(config), DeviceOf(config),
                                        descriptions);
}

}  // namespace ksearch

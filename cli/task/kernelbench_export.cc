#include "cli/task/kernelbench_export.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/task/kernelbench_samples.h"
#include "common/mean_times.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/tasks/located_json.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

constexpr char kResultsFile[] = "eval_results.json";
constexpr char kBaselineFile[] = "baseline_time_ksearch.json";

// Milliseconds with three digits, as upstream writes them.
LocatedJson Milliseconds(double us) { return LocatedJson::Float(std::round(us) / 1e3); }

LocatedJson Statistics(const v1::Samples& samples, const v1::DeviceFingerprint& device) {
  const double mean = MeanUs(samples);
  double squares = 0;
  for (const double us : samples.latency_us()) squares += (us - mean) * (us - mean);
  const auto& all = samples.latency_us();
  LocatedJson statistics = LocatedJson::Object();
  statistics.Set("mean", Milliseconds(mean));
  statistics.Set("std", Milliseconds(std::sqrt(squares / all.size())));
  statistics.Set("min", Milliseconds(*std::min_element(all.begin(), all.end())));
  statistics.Set("max", Milliseconds(*std::max_element(all.begin(), all.end())));
  statistics.Set("num_trials", LocatedJson::Integer(all.size()));
  statistics.Set("hardware", LocatedJson::String(device.name()));
  statistics.Set("device", LocatedJson::String(device.device_id()));
  return statistics;
}

LocatedJson ResultOf(const v1::ProblemStanding& problem, int sample) {
  const bool correct = problem.outcome() == v1::OUTCOME_PASSED;
  const bool compiled = !IsBuildFailure(problem.outcome());
  LocatedJson metadata = LocatedJson::Object();
  metadata.Set("hardware", LocatedJson::String(problem.device().name()));
  metadata.Set("device", LocatedJson::String(problem.device().device_id()));
  metadata.Set("measured_by", LocatedJson::String(absl::StrCat(
                                  "ksearch, harness ", problem.device().harness_version())));
  metadata.Set("candidate_id", LocatedJson::String(problem.candidate_id()));
  for (const v1::SuiteScore& score : problem.suite_scores()) {
    if (score.verdict().empty()) continue;
    metadata.Set("verdict_by_upstreams_rule",
                 LocatedJson::String(absl::StrCat(score.verdict(), ", ", score.note())));
  }
  if (!correct) metadata.Set("ksearch_outcome", LocatedJson::String(problem.message()));
  const bool timed = correct && problem.candidate().latency_us_size() > 0;
  LocatedJson result = LocatedJson::Object();
  result.Set("sample_id", LocatedJson::Integer(sample));
  result.Set("compiled", LocatedJson::Bool(compiled));
  result.Set("correctness", LocatedJson::Bool(correct));
  result.Set("metadata", std::move(metadata));
  result.Set("runtime",
             timed ? Milliseconds(MeanUs(problem.candidate())) : LocatedJson::Float(-1.0));
  result.Set("runtime_stats",
             timed ? Statistics(problem.candidate(), problem.device()) : LocatedJson::Object());
  return result;
}

}  // namespace

absl::StatusOr<std::map<std::string, std::string>> KernelBenchRun(const v1::SuiteReport& report) {
  std::map<std::string, std::string> files;
  std::map<int, LocatedJson> results;
  LocatedJson times = LocatedJson::Object();
  int level = 0;
  for (const v1::ProblemStanding& problem : report.problems()) {
    if (problem.sources().files_size() != 1) continue;
    const v1::SourceFile& file = problem.sources().files(0);
    const auto sample = ParseSampleName(file.path());
    if (!sample.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("task '", problem.task(), "' is not a KernelBench problem"));
    }
    if (level != 0 && sample->level != level) {
      return absl::InvalidArgumentError(
          absl::StrCat("the programs are of levels ", level, " and ", sample->level,
                       ", and upstream's folders hold one: name one, e.g. --task l1"));
    }
    level = sample->level;
    files[file.path()] = file.content();
    LocatedJson& list = results.try_emplace(sample->problem, LocatedJson::Array()).first->second;
    list.items.push_back(ResultOf(problem, sample->sample));
    if (problem.baseline().latency_us_size() > 0) {
      times.Set(problem.path().substr(problem.path().rfind('/') + 1),
                Statistics(problem.baseline(), problem.device()));
    }
  }
  if (files.empty()) {
    return absl::InvalidArgumentError(
        "no problem of the suite has a recorded program to export; run or evaluate one first");
  }
  LocatedJson all = LocatedJson::Object();
  for (auto& [number, list] : results) all.Set(absl::StrCat(number), std::move(list));
  files[kResultsFile] = absl::StrCat(WriteJson(all, 4), "\n");
  LocatedJson baseline = LocatedJson::Object();
  baseline.Set(absl::StrCat("level", level), std::move(times));
  files[kBaselineFile] = absl::StrCat(WriteJson(baseline, 4), "\n");
  return files;
}

absl::Status CheckTakesKernelBenchRun(const std::string& folder, bool force) {
  const std::string results = absl::StrCat(folder, "/", kResultsFile);
  if (force || ::access(results.c_str(), F_OK) != 0) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(results, " exists; choose another folder, or give --force"));
}

absl::Status WriteKernelBenchRun(const std::map<std::string, std::string>& files,
                                 const std::string& folder, bool force) {
  RETURN_IF_ERROR(CheckTakesKernelBenchRun(folder, force));
  const std::string results = absl::StrCat(folder, "/", kResultsFile);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return absl::FailedPreconditionError(absl::StrCat("--out: ", folder, ": ", error.message()));
  }
  for (const auto& [name, text] : files) {
    if (name == kResultsFile) continue;
    RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(folder, "/", name), text));
  }
  return WriteFileAtomically(results, files.at(kResultsFile));
}

}  // namespace ksearch

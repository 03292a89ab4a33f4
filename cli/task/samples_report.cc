#include "cli/task/samples_report.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/evaluation.h"
#include "cli/source_files.h"
#include "cli/task/fast_p.h"
#include "cli/task/kernelbench_samples.h"
#include "cli/text.h"
#include "common/identity.h"
#include "common/mean_times.h"
#include "common/status_macros.h"
#include "common/suspicion.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

void FillFrom(const v1::JobResult& result, v1::ProblemStanding* standing) {
  standing->set_evaluations(1);
  standing->set_job_id(result.job_id());
  standing->set_outcome(result.outcome());
  standing->set_message(result.message());
  *standing->mutable_device() = result.device();
  if (const std::string suspicion = SuspicionText(result); !suspicion.empty()) {
    standing->set_outcome(v1::OUTCOME_CHEAT);
    standing->set_message(suspicion);
  }
  if (standing->outcome() != v1::OUTCOME_PASSED) return;
  standing->set_passed(1);
  standing->set_candidate_us(GeometricMeanOfMeans(result, /*baseline=*/false));
  standing->set_baseline_us(GeometricMeanOfMeans(result, /*baseline=*/true));
  if (standing->candidate_us() > 0 && standing->baseline_us() > 0) {
    standing->set_speedup(standing->baseline_us() / standing->candidate_us());
  }
  if (result.workloads_size() != 1) return;
  *standing->mutable_candidate() = result.workloads(0).candidate();
  *standing->mutable_baseline() = result.workloads(0).baseline();
}

absl::Status JudgeSample(Client* client, const Options& options, const std::string& label,
                         v1::ProblemStanding* standing) {
  v1::EvaluateRequest request;
  request.set_task(standing->task());
  if (options.wait_for_workers.has_value()) {
    *request.mutable_wait_for_worker() = ToProto(*options.wait_for_workers);
  }
  request.set_device_model(options.device_model);
  *request.mutable_sources() = standing->sources();
  v1::EvaluateReply beside;
  absl::StatusOr<v1::JobResult> result =
      Evaluate(client, request, label, /*packet=*/nullptr, &beside);
  *standing->mutable_suite_scores() = std::move(*beside.mutable_suite_scores());
  // Of the program; any other error would be that of the next one as well.
  if (absl::IsInvalidArgument(result.status())) {
    v1::JobResult refused;
    refused.set_outcome(v1::OUTCOME_INVALID_SOURCE);
    refused.set_message(std::string(result.status().message()));
    result = std::move(refused);
  }
  if (!result.ok()) return Annotate(result.status(), standing->sources().files(0).path());
  const v1::Outcome outcome = result->outcome();
  if (outcome == v1::OUTCOME_WORKER_LOST || outcome == v1::OUTCOME_CANCELLED ||
      outcome == v1::OUTCOME_TASK_ERROR) {
    standing->set_left_out(absl::StrCat("not judged: ", result->message()));
    return absl::OkStatus();
  }
  FillFrom(*result, standing);
  return absl::OkStatus();
}

std::string SampleNumber(const v1::ProblemStanding& standing) {
  if (standing.sources().files_size() != 1) return "-";
  const auto sample = ParseSampleName(standing.sources().files(0).path());
  return sample.has_value() ? absl::StrCat(sample->sample) : "-";
}

}  // namespace

std::string StandingText(const v1::ProblemStanding& standing, absl::string_view none) {
  if (!standing.left_out().empty()) return "left out: " + standing.left_out();
  if (standing.evaluations() == 0) return std::string(none);
  if (absl::StartsWith(standing.message(), kSuspicious)) return std::string(kSuspicious);
  return standing.outcome() == v1::OUTCOME_PASSED ? "correct" : OutcomeText(standing.outcome());
}

absl::StatusOr<v1::SuiteReport> JudgeSamples(Client* client, const Options& options,
                                             const v1::SuiteReport& report) {
  ASSIGN_OR_RETURN(const std::vector<KernelBenchSample> found, FindSamples(options.run_folder));
  struct Sample {
    std::string file;
    v1::Sources sources;
  };
  // What refuses the folder does so before anything is judged, which may take hours.
  std::map<std::string, std::vector<Sample>> samples;  // by task
  std::set<std::string> levels;
  for (const KernelBenchSample& one : found) {
    Sample sample = {one.file, {}};
    ASSIGN_OR_RETURN(const auto files,
                     ReadSourceFiles({absl::StrCat(options.run_folder, "/", one.file)}));
    sample.sources.set_language(LanguageOf(files));
    *sample.sources.add_files() = files[0];
    samples[absl::StrCat(options.suite, "/l", one.level, "/", one.problem)].push_back(
        std::move(sample));
    levels.insert(absl::StrCat("l", one.level));
  }
  std::set<std::string> tasks;
  for (const v1::ProblemStanding& problem : report.problems()) tasks.insert(problem.task());
  for (const auto& [task, own] : samples) {
    if (!options.report_tasks.empty() || tasks.count(task) > 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        options.run_folder, "/", own[0].file, ": there is no task ", task,
        "; take the file out of the folder, or name the problems to judge with --task"));
  }
  v1::SuiteReport judged;
  std::set<std::string> models;
  for (const v1::ProblemStanding& problem : report.problems()) {
    if (options.report_tasks.empty() && levels.count(problem.level()) == 0) continue;
    v1::ProblemStanding blank;
    blank.set_task(problem.task());
    blank.set_level(problem.level());
    blank.set_path(problem.path());
    blank.set_left_out(problem.left_out());
    auto own = samples.extract(problem.task());
    if (own.empty() || !problem.left_out().empty()) {
      *judged.add_problems() = std::move(blank);
      continue;
    }
    for (const Sample& sample : own.mapped()) {
      v1::ProblemStanding standing = blank;
      *standing.mutable_sources() = sample.sources;
      standing.set_candidate_id(CandidateId(standing.sources()));
      RETURN_IF_ERROR(JudgeSample(client, options, absl::StrCat(sample.file, ": "), &standing));
      if (!standing.device().name().empty()) models.insert(standing.device().name());
      *judged.add_problems() = std::move(standing);
    }
  }
  judged.set_device_model(models.size() == 1 ? *models.begin() : "");
  if (models.size() > 1) {
    return absl::InvalidArgumentError(
        "the samples were judged on devices of several models, which do not compare: name one with "
        "--device-model");
  }
  return judged;
}

std::string SamplesText(const v1::SuiteReport& samples) {
  std::vector<std::vector<std::string>> rows = {
      {"problem", "sample", "standing", "latency", "baseline", "speed-up"}};
  for (const v1::ProblemStanding& standing : samples.problems()) {
    rows.push_back({standing.task(), SampleNumber(standing), StandingText(standing, "no sample"),
                    standing.candidate_us() > 0 ? LatencyText(standing.candidate_us()) : "-",
                    standing.baseline_us() > 0 ? LatencyText(standing.baseline_us()) : "-",
                    standing.speedup() > 0 ? absl::StrFormat("%.2fx", standing.speedup()) : "-"});
  }
  return absl::StrCat(
      Table(rows), "\non ",
      samples.device_model().empty() ? "no device yet" : samples.device_model(),
      ", over the baseline timed here; sample 0 of each problem, as upstream counts:\n",
      FastPText(FastPOf(FirstSamples(samples))), "\nthe best sample of each problem:\n",
      FastPText(FastPOf(BestSamples(samples))), PassAtKText(samples));
}

}  // namespace ksearch

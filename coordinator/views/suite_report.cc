#include "coordinator/views/suite_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/identity.h"
#include "common/mean_times.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/suspicion.h"

namespace ksearch {
namespace {

// Specs hold whole programs.
constexpr int kResultsPerRead = 256;

// The records of one program on one task.
struct Standing {
  std::optional<v1::JobResult> screening;  // the newest
  std::string job_id;
  v1::Sources sources;
  bool refuted = false;
  std::string suspicion;  // of any of them
  // Of the newest confirmation over the baseline, if there is one, whose times are below then.
  bool compared = false;
  bool confirmed = false;
  // 0: not timed.
  double candidate_us = 0;
  double baseline_us = 0;
  double speedup = 0;
};

struct Evaluated {
  ResultRow row;
  v1::JobResult result;
};

bool IsVerdict(const ResultRow& row) {
  const v1::JobKind kind = row.spec.kind();
  const bool judges = kind == v1::JOB_KIND_SCREEN || kind == v1::JOB_KIND_CHECK ||
                      kind == v1::JOB_KIND_CONFIRM || kind == v1::JOB_KIND_EXAMINE;
  return judges && row.outcome != v1::OUTCOME_WORKER_LOST && row.outcome != v1::OUTCOME_CANCELLED &&
         row.outcome != v1::OUTCOME_TASK_ERROR;
}

// Verdicts on the task as it is now, newest first.
absl::StatusOr<std::vector<Evaluated>> VerdictsOn(Store& store, const std::string& task,
                                                  const std::string& digest) {
  std::vector<Evaluated> verdicts;
  for (int64_t before = 0;;) {
    ASSIGN_OR_RETURN(std::vector<ResultRow> rows, store.ListResults(task, before, kResultsPerRead));
    if (rows.empty()) return verdicts;
    for (ResultRow& row : rows) {
      before = row.number;
      if (row.spec.task_sha256() != digest || !IsVerdict(row)) continue;
      ASSIGN_OR_RETURN(auto result, store.ReadResult(row.job_id));
      if (result.has_value()) verdicts.push_back({std::move(row), *std::move(result)});
    }
  }
}

bool IsWanted(const std::string& name, const v1::ReportSuiteRequest& request) {
  return request.tasks().empty() ||
         std::any_of(request.tasks().begin(), request.tasks().end(), [&](const std::string& asked) {
           return name == asked || absl::StartsWith(name, absl::StrCat(asked, "/"));
         });
}

// Takes the verdict and the times of a confirmation: they come from a trusted clock, and both sides
// were timed in turn.
void TakeComparison(const v1::Comparison& over, Standing* standing) {
  double log_candidate = 0, log_baseline = 0;
  int workloads = 0;
  for (const v1::Comparison::PerWorkload& one : over.workloads()) {
    if (one.held_out() || !(one.candidate_median_us() > 0) || !(one.rival_median_us() > 0))
      continue;
    log_candidate += std::log(one.candidate_median_us());
    log_baseline += std::log(one.rival_median_us());
    ++workloads;
  }
  standing->compared = true;
  standing->confirmed = over.verdict() == v1::Comparison::IMPROVED;
  if (workloads == 0) return;
  standing->candidate_us = std::exp(log_candidate / workloads);
  standing->baseline_us = std::exp(log_baseline / workloads);
  standing->speedup = std::exp(over.log_speedup());
}

// The model of device with the most verdicts.
std::string UsualModel(const std::map<std::string, std::vector<Evaluated>>& verdicts) {
  std::map<std::string, int> counts;
  for (const auto& [task, each] : verdicts) {
    for (const Evaluated& one : each) {
      if (!one.result.device().name().empty()) ++counts[one.result.device().name()];
    }
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? "" : most->first;
}

// By candidate id.
absl::StatusOr<std::map<std::string, Standing>> StandingsIn(Store& store,
                                                            const std::vector<Evaluated>& verdicts,
                                                            const std::string& run_id,
                                                            const std::string& model) {
  std::map<std::string, Standing> standings;
  for (const Evaluated& one : verdicts) {
    // A program that did not build has no device.
    const std::string& device = one.result.device().name();
    if (device != model && !(device.empty() && one.row.outcome != v1::OUTCOME_PASSED)) continue;
    const std::string id = CandidateId(one.row.spec.candidate());
    if (!standings.contains(id) && !run_id.empty()) {
      const auto known = store.ReadCandidate(run_id, id);
      if (absl::IsNotFound(known.status())) continue;
      RETURN_IF_ERROR(known.status());
    }
    Standing& standing = standings[id];
    standing.sources = one.row.spec.candidate();
    const bool passed = one.row.outcome == v1::OUTCOME_PASSED;
    if (standing.suspicion.empty()) standing.suspicion = SuspicionText(one.result);
    if (one.row.spec.kind() != v1::JOB_KIND_SCREEN) {
      standing.refuted |= !passed;
      const v1::Comparison* const over = OverBaseline(one.result);
      if (passed && over != nullptr && !standing.compared) TakeComparison(*over, &standing);
    } else if (!standing.screening.has_value()) {
      standing.screening = one.result;
      standing.job_id = one.row.job_id;
      if (standing.compared) continue;
      standing.candidate_us = GeometricMeanOfMeans(one.result, /*baseline=*/false);
      standing.baseline_us = GeometricMeanOfMeans(one.result, /*baseline=*/true);
      if (standing.candidate_us > 0 && standing.baseline_us > 0) {
        standing.speedup = standing.baseline_us / standing.candidate_us;
      }
    }
  }
  return standings;
}

bool Passes(const Standing& standing) {
  return standing.screening.has_value() && !standing.refuted && standing.suspicion.empty() &&
         standing.screening->outcome() == v1::OUTCOME_PASSED;
}

void Fill(const TaskSuite& tasks, const std::map<std::string, Standing>& standings,
          bool with_sources, v1::ProblemStanding* problem) {
  const std::pair<const std::string, Standing>* best = nullptr;
  for (const auto& one : standings) {
    if (!one.second.screening.has_value()) continue;
    problem->set_evaluations(problem->evaluations() + 1);
    if (Passes(one.second)) problem->set_passed(problem->passed() + 1);
    const bool better =
        best == nullptr || std::pair(Passes(one.second), one.second.speedup) >
                               std::pair(Passes(best->second), best->second.speedup);
    if (better) best = &one;
  }
  if (best == nullptr) return;
  const Standing& standing = best->second;
  const v1::JobResult& result = *standing.screening;
  problem->set_candidate_id(best->first);
  problem->set_job_id(standing.job_id);
  problem->set_outcome(result.outcome());
  problem->set_message(result.message());
  if (standing.refuted && result.outcome() == v1::OUTCOME_PASSED) {
    problem->set_outcome(v1::OUTCOME_INCORRECT);
    problem->set_message("a later check or confirmation found it wrong");
  } else if (!standing.suspicion.empty() && result.outcome() == v1::OUTCOME_PASSED) {
    problem->set_outcome(v1::OUTCOME_CHEAT);
    problem->set_message(standing.suspicion);
  }
  *problem->mutable_device() = result.device();
  for (v1::SuiteScore& score : tasks.Scores(problem->task(), result)) {
    *problem->add_suite_scores() = std::move(score);
  }
  if (with_sources) *problem->mutable_sources() = standing.sources;
  if (problem->outcome() != v1::OUTCOME_PASSED) return;
  problem->set_confirmed(standing.confirmed);
  problem->set_candidate_us(standing.candidate_us);
  problem->set_baseline_us(standing.baseline_us);
  problem->set_speedup(standing.speedup);
  if (result.workloads_size() == 1) {
    *problem->mutable_candidate() = result.workloads(0).candidate();
    *problem->mutable_baseline() = result.workloads(0).baseline();
  }
}

}  // namespace

absl::StatusOr<v1::SuiteReport> ReportSuite(Store& store, const TaskSuite& tasks,
                                            const v1::ReportSuiteRequest& request) {
  std::string run_id;
  if (!request.run_id().empty()) {
    ASSIGN_OR_RETURN(run_id, store.ResolveRun(request.run_id()));
  }
  v1::SuiteReport report;
  std::set<std::string> suites;
  std::map<std::string, std::vector<Evaluated>> verdicts;  // by task
  bool has_suite = false;
  for (const v1::TaskSummary& task : tasks.List()) {
    if (!task.suite().empty()) suites.insert(task.suite());
    if (task.suite() != request.suite() || request.suite().empty()) continue;
    has_suite = true;
    if (!IsWanted(task.name().substr(request.suite().size() + 1), request)) continue;
    v1::ProblemStanding* const problem = report.add_problems();
    problem->set_task(task.name());
    problem->set_level(task.level());
    problem->set_path(task.path());
    problem->set_left_out(task.error());
    if (!task.error().empty()) continue;
    if (!task.degenerate().empty()) {
      problem->set_left_out(absl::StrCat("degenerate: ", task.degenerate()));
    }
    ASSIGN_OR_RETURN(const v1::Task loaded, tasks.Load(task.name()));
    ASSIGN_OR_RETURN(verdicts[task.name()], VerdictsOn(store, task.name(), TaskDigest(loaded)));
  }
  if (!has_suite) {
    return absl::NotFoundError(
        absl::StrCat("suite: '", request.suite(), "' is not a suite of this coordinator",
                     suites.empty() ? "" : "; there are ", absl::StrJoin(suites, ", ")));
  }
  if (report.problems().empty()) {
    return absl::InvalidArgumentError(absl::StrCat("tasks: no task of suite '", request.suite(),
                                                   "' is named ",
                                                   absl::StrJoin(request.tasks(), " or ")));
  }
  report.set_device_model(request.device_model().empty() ? UsualModel(verdicts)
                                                         : request.device_model());
  for (v1::ProblemStanding& problem : *report.mutable_problems()) {
    ASSIGN_OR_RETURN(const auto standings,
                     StandingsIn(store, verdicts[problem.task()], run_id, report.device_model()));
    Fill(tasks, standings, request.with_sources(), &problem);
    if (!request.with_sources() || !problem.has_sources()) continue;
    auto file = tasks.ToUpstream(problem.task(), problem.sources());
    // A suite without its own form leaves programs as they are.
    if (absl::IsFailedPrecondition(file.status())) continue;
    if (!file.ok()) {
      problem.set_left_out(std::string(file.status().message()));
      problem.clear_sources();
      continue;
    }
    problem.mutable_sources()->clear_files();
    *problem.mutable_sources()->add_files() = *std::move(file);
  }
  return report;
}

}  // namespace ksearch

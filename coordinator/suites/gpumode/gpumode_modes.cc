#include "coordinator/suites/gpumode/gpumode_modes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/suites/suite_mode.h"

namespace ksearch {
namespace {

constexpr char kTestMode[] = "test";
constexpr char kLeaderboardMode[] = "leaderboard";
constexpr char kModes[] = "test, benchmark and leaderboard";

std::vector<std::string> CasesOf(const GpuModeProblem& problem, bool benchmarks) {
  std::vector<std::string> cases;
  for (const GpuModeCase& each : problem.cases) {
    if (each.benchmark == benchmarks) cases.push_back(each.uuid);
  }
  return cases;
}

// The tests, and the benchmarks that are a test as well.
std::vector<std::string> TestedCases(const GpuModeProblem& problem) {
  std::vector<std::string> cases = CasesOf(problem, /*benchmarks=*/false);
  for (const std::string& benchmark : CasesOf(problem, /*benchmarks=*/true)) {
    const auto& tested = problem.tested_benchmarks;
    if (std::find(tested.begin(), tested.end(), benchmark) != tested.end()) {
      cases.push_back(benchmark);
    }
  }
  return cases;
}

// The cases that a leaderboard runs.
std::vector<std::string> RankedCases(const GpuModeProblem& problem) {
  std::vector<std::string> cases = CasesOf(problem, /*benchmarks=*/true);
  if (problem.ranking == GpuModeRanking::kLast && cases.size() > 1) cases = {cases.back()};
  return cases;
}

const char* NameOf(GpuModeRanking ranking) {
  switch (ranking) {
    case GpuModeRanking::kMean:
      return "mean";
    case GpuModeRanking::kGeometricMean:
      return "geom";
    default:
      return "last";
  }
}

}  // namespace

absl::Status SetGpuModeMode(const GpuModeProblem& problem, const std::string& mode,
                            v1::EvaluateRequest* request) {
  if (mode == kBenchmarkMode) {
    request->mutable_plan()->set_suite_clock(true);
    return absl::OkStatus();
  }
  if (mode != kTestMode && mode != kLeaderboardMode) {
    return NoSuchMode("GPU MODE's eval.py", mode, kModes);
  }
  const bool tests = mode == kTestMode;
  const std::vector<std::string> cases = tests ? TestedCases(problem) : RankedCases(problem);
  if (cases.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("suite_mode: the problem has no ",
                                                   tests ? "tests" : "benchmarks",
                                                   " for the mode '", mode, "' (--compat)"));
  }
  request->mutable_workload_uuids()->Assign(cases.begin(), cases.end());
  if (tests) {
    request->set_kind(v1::JOB_KIND_CHECK);
    request->mutable_plan()->set_every_workload(true);
  } else {
    request->mutable_plan()->set_suite_clock(true);
    request->mutable_plan()->set_suite_clock_checked(true);
  }
  return absl::OkStatus();
}

std::optional<v1::SuiteScore> LeaderboardScore(const GpuModeProblem& problem,
                                               const v1::JobResult& result) {
  const std::vector<std::string> ranked = RankedCases(problem);
  double sum = 0, logs = 0;
  for (const std::string& uuid : ranked) {
    const auto timed = std::find_if(
        result.workloads().begin(), result.workloads().end(),
        [&](const v1::WorkloadResult& workload) { return workload.workload_uuid() == uuid; });
    if (timed == result.workloads().end() || timed->suite_time().checked() == 0) {
      return std::nullopt;
    }
    sum += timed->suite_time().mean_us();
    logs += std::log(timed->suite_time().mean_us());
  }
  if (ranked.empty()) return std::nullopt;
  const auto count = static_cast<double>(ranked.size());
  v1::SuiteScore score;
  score.set_name("GPU MODE's score on the leaderboard");
  score.set_value(problem.ranking == GpuModeRanking::kMean ? sum / count : std::exp(logs / count));
  score.set_unit("us");
  score.set_note(absl::StrCat("ranking_by ", NameOf(problem.ranking), " of ", ranked.size(),
                              ranked.size() == 1 ? " benchmark" : " benchmarks"));
  return score;
}

}  // namespace ksearch

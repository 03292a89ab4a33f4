#include "coordinator/search/score.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "common/run_facts.h"
#include "coordinator/world_model/text.h"

namespace ksearch {
namespace {

constexpr size_t kMaxOutcomeLine = 300;
constexpr size_t kMaxKeptLog = 6 << 10;
// A screening has a handful of workloads; a task with hundreds must not fill the saved state.
constexpr int kMaxKeptWorkloads = 64;
// Limits logs, which are kept for every program ever screened.
constexpr size_t kMaxRememberedLog = 1 << 10;

const v1::WorkloadResult* FirstFailed(const v1::JobResult& result) {
  for (const v1::WorkloadResult& workload : result.workloads()) {
    if (workload.outcome() != v1::OUTCOME_PASSED && workload.outcome() != v1::OUTCOME_UNSPECIFIED) {
      return &workload;
    }
  }
  return nullptr;
}

}  // namespace

Score ScoreOf(const v1::JobResult& result, v1::Preset preset) {
  Score score;
  score.passed = result.outcome() == v1::OUTCOME_PASSED && result.suspicions_size() == 0;
  if (!score.passed || result.workloads_size() == 0) return score;
  double sum_of_ratios = 0;
  double sum_of_latency_logs = 0;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    const double candidate = workload.candidate().median_us();
    if (!(candidate > 0)) return score;
    sum_of_ratios += workload.baseline().median_us() / candidate;
    sum_of_latency_logs += std::log(candidate);
  }
  const double count = result.workloads_size();
  score.latency_us = std::exp(sum_of_latency_logs / count);
  score.vs_baseline = SpeedupOverBaseline(result);
  if (score.vs_baseline.has_value()) {
    if (preset == v1::PRESET_PAPER) score.vs_baseline = sum_of_ratios / count;
    score.value = *score.vs_baseline;
  } else {
    score.value = 1000 / *score.latency_us;
  }
  return score;
}

double ScoreError(const v1::JobResult& result) {
  double squares = 0;
  const auto add = [&](const v1::Samples& samples) {
    if (!(samples.median_us() > 0) || !(samples.ci_high_us() > samples.ci_low_us())) return;
    const double half = (samples.ci_high_us() - samples.ci_low_us()) / (2 * samples.median_us());
    squares += half * half;
  };
  for (const v1::WorkloadResult& workload : result.workloads()) {
    add(workload.candidate());
    add(workload.baseline());
  }
  return result.workloads_size() > 0 ? std::sqrt(squares) / result.workloads_size() : 0;
}

double FloorShare(const v1::JobResult& result) {
  double logs = 0;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    const double latency_us = workload.candidate().median_us();
    if (!(latency_us > 0) || !(workload.floor_us() > 0)) return 0;
    logs += std::log(workload.floor_us() / latency_us);
  }
  return result.workloads_size() > 0 ? std::exp(logs / result.workloads_size()) : 0;
}

std::string OutcomeLine(const v1::JobResult& result) {
  std::string line = OutcomeWord(result.outcome());
  if (result.outcome() == v1::OUTCOME_PASSED && result.suspicions_size() > 0) {
    return OneLine(absl::StrCat("suspicious: ", result.suspicions(0)), kMaxOutcomeLine);
  }
  std::string detail = result.message();
  if (const v1::WorkloadResult* failed = FirstFailed(result); failed != nullptr && detail.empty()) {
    detail = failed->message();
  }
  if (result.build().diagnostics_size() > 0 && result.outcome() != v1::OUTCOME_PASSED) {
    const v1::Diagnostic& first = result.build().diagnostics(0);
    if (first.severity() == "error" && detail.find(first.message()) == std::string::npos) {
      absl::StrAppend(&detail, detail.empty() ? "" : "; ", first.file(), ":", first.line(), ": ",
                      first.message());
    }
  }
  if (!detail.empty()) absl::StrAppend(&line, ": ", detail);
  return OneLine(line, kMaxOutcomeLine);
}

bool IsInfrastructureOutcome(v1::Outcome outcome) {
  return outcome == v1::OUTCOME_WORKER_LOST || outcome == v1::OUTCOME_CANCELLED;
}

void NoteBaselines(const v1::JobResult& result, v1::EvaluationLogState* log) {
  for (const v1::WorkloadResult& workload : result.workloads()) {
    const double baseline = workload.baseline().median_us();
    if (baseline > 0) log->mutable_baseline_us()->insert({workload.workload_uuid(), baseline});
  }
}

void NotePeaks(const v1::JobResult& result, v1::EvaluationLogState* log) {
  if (result.has_peaks() && !log->has_peaks()) *log->mutable_peaks() = result.peaks();
}

void NoteFloors(const v1::JobResult& result, v1::EvaluationLogState* log) {
  for (const v1::WorkloadResult& workload : result.workloads()) {
    if (!(workload.floor_us() > 0)) continue;
    double& floor = (*log->mutable_floor_us())[workload.workload_uuid()];
    floor = std::max(floor, workload.floor_us());
  }
}

v1::JobResult TrimmedResult(const v1::JobResult& result) {
  v1::JobResult trimmed = result;
  trimmed.clear_comparisons();
  trimmed.clear_isolation();
  trimmed.clear_stage_times();
  trimmed.clear_finished_at();
  trimmed.clear_worker_id();
  trimmed.clear_peaks();
  if (trimmed.has_build()) {
    trimmed.mutable_build()->set_log_excerpt(CutText(result.build().log_excerpt(), kMaxKeptLog));
  }
  trimmed.set_stderr_excerpt(CutText(result.stderr_excerpt(), kMaxKeptLog));
  if (trimmed.workloads_size() > kMaxKeptWorkloads) {
    trimmed.mutable_workloads()->DeleteSubrange(kMaxKeptWorkloads,
                                                trimmed.workloads_size() - kMaxKeptWorkloads);
  }
  for (v1::WorkloadResult& workload : *trimmed.mutable_workloads()) {
    if (workload.has_candidate()) workload.mutable_candidate()->clear_latency_us();
    if (workload.has_baseline()) workload.mutable_baseline()->clear_latency_us();
  }
  return trimmed;
}

v1::ScreenedProgram ScreenedProgramOf(const v1::JobResult& result, const std::string& candidate_id,
                                      int round, v1::Preset preset) {
  const Score score = ScoreOf(result, preset);
  v1::ScreenedProgram program;
  program.set_candidate_id(candidate_id);
  *program.mutable_result() = TrimmedResult(result);
  program.set_passed(score.passed);
  program.set_score(score.value);
  if (score.latency_us.has_value()) program.set_latency_us(*score.latency_us);
  if (score.vs_baseline.has_value()) program.set_vs_baseline(*score.vs_baseline);
  program.set_round(round);
  return program;
}

v1::ScreenedProgram Remembered(v1::ScreenedProgram program) {
  program.clear_sources();
  v1::JobResult* kept = program.mutable_result();
  kept->set_stderr_excerpt(CutText(kept->stderr_excerpt(), kMaxRememberedLog));
  if (kept->has_build()) {
    kept->mutable_build()->set_log_excerpt(CutText(kept->build().log_excerpt(), kMaxRememberedLog));
  }
  return program;
}

// "passed, 1.20x, 34.1 us" or the failure.
std::string Verdict(const v1::ScreenedProgram& program) {
  if (!program.passed()) return OutcomeLine(program.result());
  std::string text = absl::StrFormat("score %.3f", program.score());
  if (program.has_latency_us()) absl::StrAppendFormat(&text, ", %.2f us", program.latency_us());
  return text;
}

v1::Solution SolutionOf(const v1::ScreenedProgram& program,
                        const std::string& parent_candidate_id) {
  v1::Solution solution;
  solution.set_candidate_id(program.candidate_id());
  solution.set_parent_candidate_id(parent_candidate_id);
  solution.set_score(program.score());
  if (program.has_latency_us()) solution.set_latency_us(program.latency_us());
  if (program.has_vs_baseline()) solution.set_vs_baseline(program.vs_baseline());
  solution.set_round(program.round());
  return solution;
}

}  // namespace ksearch

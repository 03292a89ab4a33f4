#include "common/run_facts.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace ksearch {

bool HasEnded(v1::RunState state) {
  return state != v1::RUN_STATE_RUNNING && state != v1::RUN_STATE_STOPPING;
}

std::string OutcomeWord(v1::Outcome outcome) {
  return absl::AsciiStrToLower(absl::StripPrefix(v1::Outcome_Name(outcome), "OUTCOME_"));
}

bool IsBuildFailure(v1::Outcome outcome) {
  return outcome == v1::OUTCOME_INVALID_SOURCE || outcome == v1::OUTCOME_COMPILE_ERROR ||
         outcome == v1::OUTCOME_COMPILE_TIMEOUT || outcome == v1::OUTCOME_COMPILE_LIMIT;
}

const v1::Comparison* FindComparison(const v1::JobResult& result, const std::string& rival_id) {
  for (const v1::Comparison& comparison : result.comparisons()) {
    if (comparison.rival_id() == rival_id) return &comparison;
  }
  return nullptr;
}

const v1::Comparison* OverBaseline(const v1::JobResult& result) {
  return FindComparison(result, kBaselineRival);
}

std::optional<double> SpeedupOverBaseline(const v1::JobResult& result) {
  double sum_of_logs = 0;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    const double candidate = workload.candidate().median_us();
    const double baseline = workload.baseline().median_us();
    if (!(candidate > 0) || !(baseline > 0)) return std::nullopt;
    sum_of_logs += std::log(baseline / candidate);
  }
  if (result.workloads_size() == 0) return std::nullopt;
  return std::exp(sum_of_logs / result.workloads_size());
}

std::string RatioText(double ratio, double low, double high, double confidence) {
  std::string text = absl::StrFormat("%.2fx [%.2f, %.2f]", ratio, low, high);
  if (confidence > 0) {
    constexpr double kRounding = 1e-9;  // 0.975 makes 95, not 94.9
    const double tenths = std::floor(1000 * (2 * confidence - 1) + kRounding);
    absl::StrAppendFormat(&text, " at %g %%", tenths / 10);
  }
  return text;
}

std::string RatioText(const v1::Comparison& comparison) {
  return RatioText(std::exp(comparison.log_speedup()), std::exp(comparison.ci_low()),
                   std::exp(comparison.ci_high()), comparison.confidence());
}

std::string VerdictText(const v1::Comparison& comparison) {
  return absl::StrCat(absl::AsciiStrToLower(v1::Comparison::Verdict_Name(comparison.verdict())),
                      ": ", RatioText(comparison));
}

v1::Profile ProfileIn(const v1::JobResult& profiled) {
  v1::Profile profile = profiled.profile();
  if (profile.kernels_size() > 0) return profile;
  if (profile.absence() == v1::Profile::ABSENCE_UNSPECIFIED) {
    profile.set_absence(v1::Profile::FAILED);
  }
  if (profile.note().empty()) {
    profile.set_note(absl::StrCat(
        "the candidate did not run under the profiler: ", OutcomeWord(profiled.outcome()),
        profiled.message().empty() ? "" : ": ", profiled.message()));
  }
  return profile;
}

std::string SlowestWorkload(const v1::JobResult& result) {
  std::string slowest;
  double most_us = 0;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    if (!(workload.candidate().median_us() > most_us)) continue;
    most_us = workload.candidate().median_us();
    slowest = workload.workload_uuid();
  }
  return slowest;
}

}  // namespace ksearch

#include "gpu_worker/verifier/timing/speedup_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/log.h"
#include "gpu_worker/verifier/timing/student_t.h"

namespace ksearch {
namespace {

// Before these many launches a t-type bound is too wide to say anything; even numbers, because
// buffers and order change sides from launch to launch. Simulated: docs/benchmarks.md, "Intervals".
constexpr int kFirstLook = 4;
constexpr int kSecondLook = 6;

// `quantile`: of Student's t for as many launches.
LogRatio MeanOf(const std::vector<double>& launches, double quantile) {
  const double mean = Mean(launches);
  const size_t n = launches.size();
  if (n < 2) {
    const double unknown = std::numeric_limits<double>::infinity();
    return {mean, {-unknown, unknown}};
  }
  double squares = 0;
  for (const double launch : launches) squares += (launch - mean) * (launch - mean);
  const double error = std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
  return {mean, {mean - quantile * error, mean + quantile * error}};
}

}  // namespace

SpeedupEstimate EstimateSpeedup(const std::vector<LaunchBlocks>& workloads, double confidence) {
  SpeedupEstimate estimate;
  if (workloads.empty()) return estimate;
  std::vector<double> combined(workloads.front().size());
  const int degrees = static_cast<int>(combined.size()) - 1;
  const double quantile = degrees < 1 ? 0 : StudentQuantile(1 - confidence, degrees);
  for (const LaunchBlocks& launches : workloads) {
    CHECK(launches.size() == combined.size());
    std::vector<double> medians;
    for (size_t i = 0; i < launches.size(); ++i) {
      medians.push_back(Median(launches[i]));
      combined[i] += medians.back() / static_cast<double>(workloads.size());
    }
    estimate.workloads.push_back(MeanOf(medians, quantile));
  }
  estimate.combined = MeanOf(combined, quantile);
  return estimate;
}

std::vector<int> LooksAt(int most_launches) {
  std::vector<int> looks;
  for (const int launches : {kFirstLook, kSecondLook}) {
    if (launches < most_launches) looks.push_back(launches);
  }
  looks.push_back(most_launches);
  return looks;
}

double ConfidenceOfLook(double confidence, int looks) { return 1 - (1 - confidence) / looks; }

bool IsSettled(const SpeedupEstimate& estimate, v1::Comparison::Verdict verdict,
               double worst_regression) {
  if (verdict == v1::Comparison::UNDECIDED) return false;
  const double allowed = std::log1p(-worst_regression);
  return verdict != v1::Comparison::IMPROVED ||
         std::none_of(estimate.workloads.begin(), estimate.workloads.end(),
                      [&](const LogRatio& workload) { return workload.mean < allowed; });
}

}  // namespace ksearch

#include "gpu_worker/verifier/timing/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "gpu_worker/verifier/harness_constants.h"

namespace ksearch {
namespace {

constexpr double kSamplesConfidence = 0.95;

double SortedQuantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double position = share * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] * (1 - weight) + sorted[above] * weight;
}

}  // namespace

double Mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return SortedQuantile(values, share);
}

double Median(std::vector<double> values) { return Quantile(std::move(values), 0.5); }

Interval MedianInterval(std::vector<double> values, double confidence) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  // Largest k with P(Binomial(n, 1/2) < k) <= (1 - confidence) / 2, counting in log space.
  const double tail_limit = (1 - confidence) / 2;
  double tail = 0;
  size_t k = 0;
  for (; k < n / 2; ++k) {
    const double log_term =
        std::lgamma(static_cast<double>(n) + 1) - std::lgamma(static_cast<double>(k) + 1) -
        std::lgamma(static_cast<double>(n - k) + 1) - static_cast<double>(n) * std::log(2.0);
    if (tail + std::exp(log_term) > tail_limit) break;
    tail += std::exp(log_term);
  }
  // k order statistics may be cut off each end.
  const size_t low = k == 0 ? 0 : k - 1;
  return {values[low], values[n - 1 - low]};
}

v1::Samples Summarize(std::vector<double> latency_us) {
  v1::Samples samples;
  samples.mutable_latency_us()->Add(latency_us.begin(), latency_us.end());
  const double median = Median(latency_us);
  const Interval interval = MedianInterval(latency_us, kSamplesConfidence);
  samples.set_median_us(median);
  samples.set_ci_low_us(interval.low);
  samples.set_ci_high_us(interval.high);
  const auto slow = std::count_if(latency_us.begin(), latency_us.end(),
                                  [&](double value) { return value > kUnstableFactor * median; });
  samples.set_unstable(static_cast<double>(slow) >
                       kUnstableShare * static_cast<double>(latency_us.size()));
  return samples;
}

double LeastLogRatio(const LogRatio& workload, double worst_regression) {
  return workload.guard_factor.has_value() ? -std::log(*workload.guard_factor)
                                           : std::log1p(-worst_regression);
}

v1::Comparison::Verdict Judge(const SpeedupEstimate& result, double min_effect,
                              double worst_regression) {
  const double effect = std::log1p(min_effect);
  const Interval& interval = result.combined.interval;
  const bool regresses =
      std::any_of(result.workloads.begin(), result.workloads.end(), [&](const LogRatio& each) {
        return each.interval.high < LeastLogRatio(each, worst_regression);
      });
  if (interval.low > effect) return regresses ? v1::Comparison::MIXED : v1::Comparison::IMPROVED;
  if (interval.high < -effect) return v1::Comparison::WORSE;
  if (interval.low > -effect && interval.high < effect) return v1::Comparison::EQUAL;
  return regresses && result.combined.mean > 0 ? v1::Comparison::MIXED : v1::Comparison::UNDECIDED;
}

v1::Comparison::Verdict JudgeUndecided(const SpeedupEstimate& by_verifier,
                                       const SpeedupEstimate& by_runners, double min_effect,
                                       double worst_regression) {
  const v1::Comparison::Verdict said = Judge(by_runners, min_effect, worst_regression);
  const Interval& ours = by_verifier.combined.interval;
  const Interval& theirs = by_runners.combined.interval;
  const bool overlap = ours.low <= theirs.high && theirs.low <= ours.high;
  return said != v1::Comparison::IMPROVED && overlap ? said : v1::Comparison::UNDECIDED;
}

}  // namespace ksearch

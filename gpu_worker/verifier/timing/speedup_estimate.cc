#include "gpu_worker/verifier/timing/speedup_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "common/log.h"
#include "gpu_worker/verifier/timing/student_t.h"

namespace ksearch {
namespace {

// With fewer launches a t-type bound is too wide to be useful; even numbers, because buffers and
// order change sides from launch to launch. For simulations see docs/internals/benchmarks.md,
// "Intervals".
constexpr int kFirstLook = 4;
constexpr int kSecondLook = 6;

// The number of launches that cover all workloads.
size_t WholeLaunches(const std::vector<LaunchBlocks>& workloads) {
  size_t least = workloads.empty() ? 0 : workloads.front().size();
  for (const LaunchBlocks& launches : workloads) least = std::min(least, launches.size());
  return least;
}

// The mean of a sample of launches, and how far it may be off.
struct MeanAndError {
  double mean = 0;
  double error = 0;  // standard error
  int degrees = 0;   // of freedom; 0: the error is unknown
};

double SquaresAround(double mean, const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares;
}

MeanAndError MeanOfLaunches(const std::vector<double>& launches) {
  const double mean = Mean(launches);
  const int degrees = static_cast<int>(launches.size()) - 1;
  if (degrees < 1) return {mean, 0, 0};
  const double variance = SquaresAround(mean, launches) / degrees;
  return {mean, std::sqrt(variance / static_cast<double>(launches.size())), degrees};
}

MeanAndError MeanOfOrders(const std::vector<double>& launches) {
  std::vector<double> of_order[2];
  for (size_t i = 0; i < launches.size(); ++i) of_order[i % 2].push_back(launches[i]);
  if (of_order[1].empty()) return {Mean(launches), 0, 0};
  const double means[] = {Mean(of_order[0]), Mean(of_order[1])};
  const double mean = (means[0] + means[1]) / 2;
  const int degrees = static_cast<int>(launches.size()) - 2;
  if (degrees < 1) return {mean, 0, 0};
  double squares = 0, share = 0;
  for (const int order : {0, 1}) {
    squares += SquaresAround(means[order], of_order[order]);
    share += 0.25 / static_cast<double>(of_order[order].size());
  }
  return {mean, std::sqrt(squares / degrees * share), degrees};
}

}  // namespace

SpeedupEstimate EstimateSpeedup(const std::vector<LaunchBlocks>& workloads, double confidence,
                                const GuardFactors& guards, StartOrder start_order) {
  CHECK(guards.empty() || guards.size() == workloads.size());
  const size_t ranked =
      guards.empty() ? workloads.size()
                     : static_cast<size_t>(std::count(guards.begin(), guards.end(), std::nullopt));
  SpeedupEstimate estimate;
  if (workloads.empty()) return estimate;
  CHECK(ranked > 0);
  std::vector<double> combined(WholeLaunches(workloads));
  CHECK(!combined.empty());
  std::map<int, double> quantiles;  // by degrees of freedom
  const auto ratio_of = [&](const std::vector<double>& launches) -> LogRatio {
    const auto [mean, error, degrees] =
        start_order == StartOrder::kRemoved ? MeanOfOrders(launches) : MeanOfLaunches(launches);
    if (degrees == 0) {
      const double unknown = std::numeric_limits<double>::infinity();
      return {mean, {-unknown, unknown}};
    }
    double& quantile = quantiles[degrees];
    if (quantile == 0) quantile = StudentQuantile(1 - confidence, degrees);
    return {mean, {mean - quantile * error, mean + quantile * error}};
  };
  for (size_t w = 0; w < workloads.size(); ++w) {
    const std::optional<double> guard = guards.empty() ? std::nullopt : guards[w];
    std::vector<double> medians;
    for (size_t i = 0; i < workloads[w].size(); ++i) {
      medians.push_back(Median(workloads[w][i]));
      if (i < combined.size() && !guard.has_value()) {
        combined[i] += medians.back() / static_cast<double>(ranked);
      }
    }
    estimate.workloads.push_back(ratio_of(medians));
    estimate.workloads.back().guard_factor = guard;
  }
  estimate.combined = ratio_of(combined);
  return estimate;
}

std::vector<int> InterimLooks(int most_launches) {
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
  return verdict != v1::Comparison::IMPROVED ||
         std::none_of(estimate.workloads.begin(), estimate.workloads.end(),
                      [&](const LogRatio& workload) {
                        return workload.mean < LeastLogRatio(workload, worst_regression);
                      });
}

std::vector<size_t> DecidingFirst(const std::vector<LaunchBlocks>& workloads) {
  std::vector<double> means;
  for (const LaunchBlocks& launches : workloads) {
    std::vector<double> medians;
    for (const std::vector<double>& blocks : launches) medians.push_back(Median(blocks));
    means.push_back(Mean(medians));
  }
  std::vector<size_t> order(workloads.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return means[a] < means[b]; });
  return order;
}

bool DecidesAlone(const std::vector<LaunchBlocks>& workloads, size_t index,
                  const std::vector<double>& blocks, double confidence, double min_effect,
                  double worst_regression, const GuardFactors& guards) {
  if (WholeLaunches(workloads) < kLeastWholeLaunches) return false;
  std::vector<LaunchBlocks> with_this = workloads;
  with_this[index].push_back(blocks);
  const SpeedupEstimate estimate = EstimateSpeedup(with_this, confidence, guards);
  const LogRatio& decisive = estimate.workloads[index];
  return decisive.interval.high < LeastLogRatio(decisive, worst_regression) &&
         Judge(estimate, min_effect, worst_regression) != v1::Comparison::UNDECIDED;
}

}  // namespace ksearch

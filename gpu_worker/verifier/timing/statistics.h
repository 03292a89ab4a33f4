#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_STATISTICS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_STATISTICS_H_

#include <optional>
#include <vector>

#include "proto/result.pb.h"

namespace ksearch {

// Pure functions on samples. Empty input gives 0.

double Median(std::vector<double> values);
double Mean(const std::vector<double>& values);
// By linear interpolation between order statistics; share in [0, 1].
double Quantile(std::vector<double> values, double share);

struct Interval {
  double low = 0;
  double high = 0;
};

// Order-statistic interval of the median: the narrowest symmetric pair of order statistics that
// covers it with at least `confidence`, whatever the distribution (binomial tail, p = 1/2). Fewer
// samples than that needs (6 at 95 %) give the whole range.
Interval MedianInterval(std::vector<double> values, double confidence);

// Median, interval at 95 % and `unstable` of the raw samples.
v1::Samples Summarize(std::vector<double> latency_us);

// The measurements for one workload: log ratios of adjacent blocks, by launch.
using LaunchBlocks = std::vector<std::vector<double>>;

struct LogRatio {
  double mean = 0;
  Interval interval;
  // For a workload that is only a guard (v1::Objective): how many times slower than the rival it
  // may be. Absent if it is ranked.
  std::optional<double> guard_factor = std::nullopt;
};
struct SpeedupEstimate {
  std::vector<LogRatio> workloads;  // same order as the input
  LogRatio combined;                // mean over ranked workloads: log of the geometric mean
};

// The log ratio below which a workload regresses: by worst_regression for a ranked workload, by its
// factor for a guard.
double LeastLogRatio(const LogRatio& workload, double worst_regression);

// min_effect is the smallest relative speed-up that matters (0.01 = 1 %). A result that would be
// IMPROVED, or that is faster on average but still UNDECIDED, is MIXED if a workload's whole
// interval lies below LeastLogRatio: further launches could not make it an improvement.
v1::Comparison::Verdict Judge(const SpeedupEstimate& result, double min_effect,
                              double worst_regression);

// Lets the runners' own clocks decide a result that is UNDECIDED by the verifier's clock. They are
// more precise, but a candidate could forge them, so their verdict counts only if the candidate
// gains nothing from it (it is not IMPROVED) and the intervals overlap; else the result stays
// UNDECIDED.
v1::Comparison::Verdict JudgeUndecided(const SpeedupEstimate& by_verifier,
                                       const SpeedupEstimate& by_runners, double min_effect,
                                       double worst_regression);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_STATISTICS_H_

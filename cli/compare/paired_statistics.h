#ifndef KSEARCH_CLI_COMPARE_PAIRED_STATISTICS_H_
#define KSEARCH_CLI_COMPARE_PAIRED_STATISTICS_H_

#include <cstdint>
#include <vector>

namespace ksearch {

// Statistics of comparisons. Pure functions; random numbers are derived from `seed`. Outer vectors
// are tasks, inner ones the runs of a task; tasks without runs are ignored.

struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct BootstrapPlan {
  double confidence = 0.95;
  int samples = 10000;
  uint64_t seed = 1;
};

double Mean(const std::vector<double>& values);  // 0 if empty
double Median(std::vector<double> values);       // 0 if empty

// The mean over tasks of the mean over a task's values, with a percentile bootstrap interval
// (Efron): resamples tasks, then the values of each. For a single task, resamples only its values.
Estimate BootstrapMean(const std::vector<std::vector<double>>& tasks, const BootstrapPlan& plan);

// Wilcoxon's signed-rank test, two-sided: the probability of differences at least as one-sided as
// these if they are distributed symmetrically around 0. Zeros are omitted, ties get their mean
// rank. Exact for at most 25 differences without ties; otherwise the normal approximation with
// corrections for ties and continuity. 1 if nothing differs.
double WilcoxonSignedRank(const std::vector<double>& differences);

// Holm's step-down correction; keeps the order.
std::vector<double> HolmCorrection(const std::vector<double>& p_values);

// The probability that a run of the first is better (greater) than a run of the second on the same
// task, ties counting half: the mean over tasks of the share of all pairs (Mann and Whitney), with
// a percentile bootstrap over the runs of each side and over tasks. `first` and `second` have the
// same tasks.
Estimate ImprovementProbability(const std::vector<std::vector<double>>& first,
                                const std::vector<std::vector<double>>& second,
                                const BootstrapPlan& plan);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPARE_PAIRED_STATISTICS_H_

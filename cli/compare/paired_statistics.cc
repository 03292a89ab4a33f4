#include "cli/compare/paired_statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "common/rng.h"

namespace ksearch {
namespace {

constexpr size_t kMostExact = 25;

// The value below which a share `share` of the sorted values lies, interpolated.
double Quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double rest = at - static_cast<double>(below);
  return sorted[below] * (1 - rest) + sorted[above] * rest;
}

Estimate Percentiles(double value, std::vector<double> resampled, double confidence) {
  std::sort(resampled.begin(), resampled.end());
  const double tail = (1 - confidence) / 2;
  return {value, Quantile(resampled, tail), Quantile(resampled, 1 - tail)};
}

std::vector<double> Resampled(const std::vector<double>& values, Rng* rng) {
  std::vector<double> drawn(values.size());
  for (double& value : drawn) value = values[rng->NextBelow(values.size())];
  return drawn;
}

// Share of the pairs in which `first` is greater; ties count half. Both are sorted.
double GreaterShare(const std::vector<double>& first, const std::vector<double>& second) {
  double wins = 0;
  size_t less = 0, not_greater = 0;
  for (const double value : first) {
    while (less < second.size() && second[less] < value) ++less;
    while (not_greater < second.size() && second[not_greater] <= value) ++not_greater;
    wins += static_cast<double>(less) + 0.5 * static_cast<double>(not_greater - less);
  }
  return wins / static_cast<double>(first.size() * second.size());
}

double NormalTail(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

// How many of the 2^n sign patterns of the ranks 1..n have a positive sum of at most `most`, as a
// share.
double ExactTail(size_t n, double most) {
  const size_t sums = n * (n + 1) / 2;
  std::vector<double> ways(sums + 1, 0);
  ways[0] = 1;
  for (size_t rank = 1; rank <= n; ++rank) {
    for (size_t sum = sums; sum >= rank; --sum) ways[sum] += ways[sum - rank];
  }
  double share = 0;
  for (size_t sum = 0; sum <= sums && static_cast<double>(sum) <= most; ++sum) share += ways[sum];
  return share / std::pow(2.0, static_cast<double>(n));
}

}  // namespace

double Mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return Quantile(values, 0.5);
}

Estimate BootstrapMean(const std::vector<std::vector<double>>& tasks, const BootstrapPlan& plan) {
  std::vector<std::vector<double>> used;
  std::vector<double> means;
  for (const std::vector<double>& task : tasks) {
    if (task.empty()) continue;
    used.push_back(task);
    means.push_back(Mean(task));
  }
  if (used.empty()) return {};
  Rng rng(plan.seed);
  std::vector<double> resampled;
  for (int i = 0; i < plan.samples; ++i) {
    double sum = 0;
    for (size_t t = 0; t < used.size(); ++t) {
      const std::vector<double>& task = used[used.size() == 1 ? 0 : rng.NextBelow(used.size())];
      sum += Mean(Resampled(task, &rng));
    }
    resampled.push_back(sum / static_cast<double>(used.size()));
  }
  return Percentiles(Mean(means), std::move(resampled), plan.confidence);
}

double WilcoxonSignedRank(const std::vector<double>& differences) {
  std::vector<double> nonzero;
  std::copy_if(differences.begin(), differences.end(), std::back_inserter(nonzero),
               [](double value) { return value != 0; });
  if (nonzero.empty()) return 1;
  std::sort(nonzero.begin(), nonzero.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  const size_t n = nonzero.size();
  double positive = 0, ties = 0;  // sum of ranks; sum of t^3 - t
  bool tied = false;
  for (size_t begin = 0; begin < n;) {
    size_t end = begin;
    while (end < n && std::abs(nonzero[end]) == std::abs(nonzero[begin])) ++end;
    const double rank = static_cast<double>(begin + 1 + end) / 2;
    const double size = static_cast<double>(end - begin);
    tied = tied || end - begin > 1;
    ties += size * size * size - size;
    for (size_t i = begin; i < end; ++i) positive += nonzero[i] > 0 ? rank : 0;
    begin = end;
  }
  const double count = static_cast<double>(n);
  const double all = count * (count + 1) / 2;
  const double smaller = std::min(positive, all - positive);
  if (n <= kMostExact && !tied) return std::min(1.0, 2 * ExactTail(n, smaller));
  const double variance = count * (count + 1) * (2 * count + 1) / 24 - ties / 48;
  if (variance <= 0) return 1;
  const double distance = std::max(0.0, all / 2 - smaller - 0.5);
  return std::min(1.0, 2 * NormalTail(distance / std::sqrt(variance)));
}

std::vector<double> HolmCorrection(const std::vector<double>& p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> corrected(p_values.size());
  double largest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const double scaled = p_values[order[i]] * static_cast<double>(order.size() - i);
    largest = std::max(largest, std::min(1.0, scaled));
    corrected[order[i]] = largest;
  }
  return corrected;
}

Estimate ImprovementProbability(const std::vector<std::vector<double>>& first,
                                const std::vector<std::vector<double>>& second,
                                const BootstrapPlan& plan) {
  const auto share_of = [](std::vector<double> a, std::vector<double> b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return GreaterShare(a, b);
  };
  std::vector<size_t> used;
  std::vector<double> shares;
  for (size_t t = 0; t < first.size() && t < second.size(); ++t) {
    if (first[t].empty() || second[t].empty()) continue;
    used.push_back(t);
    shares.push_back(share_of(first[t], second[t]));
  }
  if (used.empty()) return {};
  Rng rng(plan.seed);
  std::vector<double> resampled;
  for (int i = 0; i < plan.samples; ++i) {
    double sum = 0;
    for (size_t n = 0; n < used.size(); ++n) {
      const size_t t = used[used.size() == 1 ? 0 : rng.NextBelow(used.size())];
      std::vector<double> a = Resampled(first[t], &rng);
      sum += share_of(std::move(a), Resampled(second[t], &rng));
    }
    resampled.push_back(sum / static_cast<double>(used.size()));
  }
  return Percentiles(Mean(shares), std::move(resampled), plan.confidence);
}

}  // namespace ksearch

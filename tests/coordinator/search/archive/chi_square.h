#ifndef KSEARCH_TESTS_COORDINATOR_SEARCH_ARCHIVE_CHI_SQUARE_H_
#define KSEARCH_TESTS_COORDINATOR_SEARCH_ARCHIVE_CHI_SQUARE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace ksearch {

// Succeeds if counts may have been drawn with probabilities proportional to `weights`: chi-square
// below its quantile at 1 - 1e-4 (Wilson and Hilferty's approximation). A weight of zero requires a
// count of zero. Draws use fixed seeds, so a test passes always or never.
inline testing::AssertionResult AgreesWith(const std::vector<int>& counts,
                                           const std::vector<double>& weights) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double statistic = 0;
  double freedom = -1;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * weights.at(i) / sum;
    if (expected == 0) {
      if (counts[i] != 0) return testing::AssertionFailure() << i << " was drawn " << counts[i];
      continue;
    }
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
    ++freedom;
  }
  if (freedom < 1) return testing::AssertionSuccess();
  const double spread = 2 / (9 * freedom);
  const double limit = freedom * std::pow(1 - spread + 3.719 * std::sqrt(spread), 3);
  if (statistic < limit) return testing::AssertionSuccess();
  auto failure = testing::AssertionFailure();
  failure << "chi-square " << statistic << " is above " << limit << ":";
  for (size_t i = 0; i < counts.size(); ++i) {
    failure << " " << counts[i] << "/" << total * weights[i] / sum;
  }
  return failure;
}

}  // namespace ksearch

#endif  // KSEARCH_TESTS_COORDINATOR_SEARCH_ARCHIVE_CHI_SQUARE_H_

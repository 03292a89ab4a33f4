#ifndef KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SAMPLING_RULE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SAMPLING_RULE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace ksearch {

// Which tokens of a row of probabilities may be drawn, by v1::SuiteRule.Sampling; its source is
// flashinfer-bench 0.1.2, bench/evaluators/sampling.py. With top_k, equally likely tokens may all
// be drawn, or none of them; with top_p, each is treated as if it came first among its equals.
struct DrawLimits {
  int64_t top_k = 0;  // counts if above 0 and below the number of tokens
  double top_p = 0;   // counts if above 0 and below 1
  double margin = 0;
};

bool MayBeDrawn(absl::Span<const double> probabilities, int64_t token, const DrawLimits& limits);

// The probabilities of the tokens that may be drawn, normalized to sum to 1; 0 for all others.
std::vector<double> SharesOf(absl::Span<const double> probabilities, const DrawLimits& limits);

// The position, from 0 to 1, of a token in the cumulative distribution of the tokens that may be
// drawn, likeliest first. `within`, from 0 to 1, is the position inside its own share and equal
// ones. The result is uniform if tokens are drawn by their shares and `within` is uniform.
double PlaceOf(absl::Span<const double> shares, int64_t token, double within);

// The largest difference between the distribution of these places (at least one) and the uniform
// distribution (Kolmogorov).
double DistanceFromEven(std::vector<double> places);

// The total variation distance between the tokens' frequencies among `drawn` draws and their
// shares.
double DistanceOf(absl::Span<const int64_t> counts, int64_t drawn, absl::Span<const double> shares);

// The approximate expected distance, by chance alone, for `drawn` tokens drawn by their shares:
// half the sum of sqrt(2 s (1 - s) / (pi drawn)), the mean deviation of normal variates.
double DistanceByChance(absl::Span<const double> shares, int64_t drawn);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SAMPLING_RULE_H_

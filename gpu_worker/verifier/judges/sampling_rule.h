#ifndef KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SAMPLING_RULE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SAMPLING_RULE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace ksearch {

// Which tokens of a row of probabilities may be drawn, as v1::SuiteRule.Sampling says; its source
// is flashinfer-bench 0.1.2, bench/evaluators/sampling.py. Of tokens as likely as each other all
// may be drawn, or none by top_k; by top_p each as if it came first.
struct DrawLimits {
  int64_t top_k = 0;  // counts if above 0 and below the number of tokens
  double top_p = 0;   // counts if above 0 and below 1
  double margin = 0;
};

bool MayBeDrawn(absl::Span<const double> probabilities, int64_t token, const DrawLimits& limits);

// The probabilities of those that may be drawn, which add up to 1; 0 for all others.
std::vector<double> SharesOf(absl::Span<const double> probabilities, const DrawLimits& limits);

// Where a token lies among those that may be drawn, likeliest first, from 0 to 1: `within`, from 0
// to 1, is where within its own share and those that equal it. Evenly distributed if tokens are
// drawn by their shares and `within` is.
double PlaceOf(absl::Span<const double> shares, int64_t token, double within);

// The largest difference between the distribution of these places, of which there is at least one,
// and the even one (Kolmogorov).
double DistanceFromEven(std::vector<double> places);

// Half the sum of the differences between how often tokens came, of `drawn` in all, and their
// shares.
double DistanceOf(absl::Span<const int64_t> counts, int64_t drawn, absl::Span<const double> shares);

// What that distance is about, by chance alone, of `drawn` tokens that are drawn by their shares:
// half the sum of sqrt(2 s (1 - s) / (pi drawn)), the mean deviation of normal variates.
double DistanceByChance(absl::Span<const double> shares, int64_t drawn);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_JUDGES_SAMPLING_RULE_H_

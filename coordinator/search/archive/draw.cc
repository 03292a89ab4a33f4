#include "coordinator/search/archive/draw.h"

namespace ksearch {

size_t DrawWeighted(const std::vector<double>& weights, Rng& rng) {
  CHECK(!weights.empty());
  double total = 0;
  for (const double weight : weights) {
    if (weight > 0) total += weight;
  }
  if (!(total > 0)) return static_cast<size_t>(rng.NextBelow(weights.size()));
  double left = rng.NextDouble() * total;
  size_t last = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    last = i;
    left -= weights[i];
    if (left < 0) return i;
  }
  return last;  // reached only through rounding
}

}  // namespace ksearch

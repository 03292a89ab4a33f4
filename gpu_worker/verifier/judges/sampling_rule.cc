#include "gpu_worker/verifier/judges/sampling_rule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace ksearch {
namespace {

bool CountsTopK(const DrawLimits& limits, size_t tokens) {
  return limits.top_k > 0 && limits.top_k < static_cast<int64_t>(tokens);
}

bool CountsTopP(const DrawLimits& limits) { return limits.top_p > 0 && limits.top_p < 1; }

}  // namespace

bool MayBeDrawn(absl::Span<const double> probabilities, int64_t token, const DrawLimits& limits) {
  if (token < 0 || token >= static_cast<int64_t>(probabilities.size())) return false;
  const double own = probabilities[static_cast<size_t>(token)];
  int64_t likelier = 0;
  double sum = 0;
  for (const double each : probabilities) {
    if (!(each > own)) continue;
    ++likelier;
    sum += each;
  }
  if (CountsTopK(limits, probabilities.size()) && likelier >= limits.top_k) return false;
  return likelier == 0 || !CountsTopP(limits) || sum + own <= limits.top_p + limits.margin;
}

std::vector<double> SharesOf(absl::Span<const double> probabilities, const DrawLimits& limits) {
  std::vector<size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
  });
  std::vector<double> shares(probabilities.size());
  double cumulated = 0, sum = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const double own = probabilities[order[i]];
    if (CountsTopK(limits, order.size()) && i >= static_cast<size_t>(limits.top_k) &&
        own < probabilities[order[static_cast<size_t>(limits.top_k) - 1]]) {
      break;
    }
    cumulated += own;
    if (CountsTopP(limits) && i > 0 && cumulated > limits.top_p + limits.margin) break;
    shares[order[i]] = own;
    sum += own;
  }
  if (sum > 0) {
    for (double& share : shares) share /= sum;
  }
  return shares;
}

double PlaceOf(absl::Span<const double> shares, int64_t token, double within) {
  const double own = shares[static_cast<size_t>(token)];
  double before = 0, equal = 0;
  for (const double each : shares) {
    if (each > own) before += each;
    if (each == own) equal += each;
  }
  return std::min(1.0, before + within * equal);
}

double DistanceFromEven(std::vector<double> places) {
  std::sort(places.begin(), places.end());
  const auto count = static_cast<double>(places.size());
  double distance = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto below = static_cast<double>(i);
    distance = std::max({distance, places[i] - below / count, (below + 1) / count - places[i]});
  }
  return distance;
}

double DistanceOf(absl::Span<const int64_t> counts, int64_t drawn,
                  absl::Span<const double> shares) {
  double sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    sum += std::fabs(static_cast<double>(counts[i]) / static_cast<double>(drawn) - shares[i]);
  }
  return sum / 2;
}

double DistanceByChance(absl::Span<const double> shares, int64_t drawn) {
  double sum = 0;
  for (const double share : shares) sum += std::sqrt(std::max(0.0, share * (1 - share)));
  return sum * std::sqrt(2 / (std::numbers::pi * static_cast<double>(drawn))) / 2;
}

}  // namespace ksearch

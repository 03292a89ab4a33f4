#include "coordinator/llm/model_server/landscape/landscape_knowledge.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace ksearch {
namespace {

// How many changes of several steps are considered, of which one is made.
constexpr int kThoughtOf = 24;
constexpr double kTiredWeight = 1.0 / 3;
// This many tried programs weigh as much as the prior belief.
constexpr double kTriedToBelieve = 10;

// A standard normal number; a pure function of its arguments (Box and Muller).
double NormalAt(uint64_t seed, uint64_t low, uint64_t high) {
  const auto block = Philox(seed).Block(low, high);
  const double u = (static_cast<double>(block[0]) + 0.5) * 0x1.0p-32;
  const double v = (static_cast<double>(block[1]) + 0.5) * 0x1.0p-32;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

// Index into `weights`, in proportion to them; at least one is above 0.
size_t DrawIndex(const std::vector<double>& weights, Rng* rng) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double left = rng->NextDouble() * sum;
  for (size_t i = 0; i + 1 < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return i;
  }
  return weights.size() - 1;
}

}  // namespace

LandscapePoint Changed(LandscapePoint point, const LandscapeChange& change) {
  for (const LandscapeStep& step : change) point[step.parameter] = step.value;
  return point;
}

double LandscapeKnowledge::skill() const {
  const v1::LandscapeKnowledge& knowledge = landscape_.spec().knowledge();
  return view_.judges ? knowledge.judge_skill() : knowledge.skill();
}

double LandscapeKnowledge::Belief(const LandscapePoint& point,
                                  const LandscapeChange& change) const {
  double belief = OwnBelief(point, change);
  for (const LandscapeStep& step : change) {
    const auto prior = view_.priors.find(landscape_.spec().parameters(step.parameter).intent());
    if (prior == view_.priors.end() || prior->first == v1::INTENT_KIND_UNSPECIFIED) continue;
    const double tried = prior->second.tried;
    const double weight =
        landscape_.spec().knowledge().heeds_memory() * tried / (tried + kTriedToBelieve);
    belief += weight * (prior->second.log_gain - OwnBelief(point, {step}));
  }
  return belief;
}

double LandscapeKnowledge::OwnBelief(const LandscapePoint& point,
                                     const LandscapeChange& change) const {
  const v1::LandscapeKnowledge& knowledge = landscape_.spec().knowledge();
  const double before = std::log(landscape_.Cost(point));
  const double together = before - std::log(landscape_.Cost(Changed(point, change)));
  double apart = 0;
  double noise = 0;
  for (const LandscapeStep& step : change) {
    apart += before - std::log(landscape_.Cost(Changed(point, {step})));
    const auto from = static_cast<uint64_t>(point[step.parameter]);
    noise += NormalAt(knowledge.seed(), (from << 32) | static_cast<uint64_t>(step.value),
                      static_cast<uint64_t>(step.parameter));
  }
  const double gain = apart + knowledge.insight() * (together - apart);
  return skill() * gain + (1 - skill()) * knowledge.wrongness() * noise;
}

std::vector<LandscapeStep> LandscapeKnowledge::Steps(const LandscapePoint& point) const {
  std::vector<LandscapeStep> steps;
  for (int i = 0; i < landscape_.parameters(); ++i) {
    const v1::LandscapeParameter& parameter = landscape_.spec().parameters(i);
    if (view_.bottleneck != v1::BOTTLENECK_UNSPECIFIED &&
        parameter.bottleneck() != view_.bottleneck) {
      continue;
    }
    const bool ordered = parameter.ordered();
    for (int value = 0; value < landscape_.values(i); ++value) {
      if (value == point[i] || (ordered && std::abs(value - point[i]) > 1)) continue;
      steps.push_back({i, value});
    }
  }
  return steps;
}

std::optional<LandscapeChange> LandscapeKnowledge::Draw(const LandscapePoint& point, int count,
                                                        const std::set<LandscapePoint>& avoid,
                                                        const std::set<LandscapeStep>& tired,
                                                        Rng* rng) const {
  const std::vector<LandscapeStep> steps = Steps(point);
  if (steps.empty()) return std::nullopt;
  std::vector<LandscapeChange> changes;
  if (count <= 1) {
    for (const LandscapeStep& step : steps) changes.push_back({step});
  } else {
    for (int i = 0; i < kThoughtOf; ++i) {
      LandscapeChange change;
      for (int tries = 0; tries < 4 * count && static_cast<int>(change.size()) < count; ++tries) {
        const LandscapeStep step = steps[rng->NextBelow(steps.size())];
        const bool again = std::any_of(
            change.begin(), change.end(),
            [&](const LandscapeStep& other) { return other.parameter == step.parameter; });
        if (!again) change.push_back(step);
      }
      std::sort(change.begin(), change.end());
      changes.push_back(std::move(change));
    }
  }
  const double focus = landscape_.spec().knowledge().focus();
  std::vector<double> weights;
  std::vector<LandscapeChange> open;
  for (LandscapeChange& change : changes) {
    if (avoid.count(Changed(point, change)) > 0) continue;
    double weight = std::exp(std::clamp(focus * Belief(point, change), -50.0, 50.0));
    for (const LandscapeStep& step : change) {
      if (tired.count(step) > 0) weight *= kTiredWeight;
    }
    weights.push_back(weight);
    open.push_back(std::move(change));
  }
  if (open.empty()) return std::nullopt;
  return open[DrawIndex(weights, rng)];
}

int DrawCount(double mean, Rng* rng) {
  constexpr int kMost = 16;
  const double more = 1 - 1 / mean;
  int count = 1;
  while (count < kMost && rng->NextDouble() < more) ++count;
  return count;
}

}  // namespace ksearch

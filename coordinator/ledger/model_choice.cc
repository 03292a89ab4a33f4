#include "coordinator/ledger/model_choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/rng.h"

namespace ksearch {
namespace {

// e^50 is far above what any other gain weighs, and far from overflow.
constexpr double kMaxGain = 50;
constexpr double kLeastCost = 1e-7;  // dollars per call
constexpr double kCostExploration = 0.1;
// Keeps this stream of random numbers apart from the strategies', which use the seed itself.
constexpr uint64_t kStream = 0x6D6F64656C730001;

double Tries(const v1::ModelArm& arm) {
  return static_cast<double>(std::max(arm.submitted(), arm.completed()));
}

size_t Pick(const std::vector<double>& shares, double draw) {
  double left = draw * std::accumulate(shares.begin(), shares.end(), 0.0);
  size_t last = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] <= 0) continue;
    last = i;
    left -= shares[i];
    if (left < 0) return i;
  }
  return last;  // reached only through rounding
}

// Dollars between the cheapest and the most expensive single call. An arm that was recorded before
// single costs were kept counts with its mean.
double CostRange(absl::Span<const v1::ModelArm> arms) {
  std::vector<double> costs;
  for (const v1::ModelArm& arm : arms) {
    if (arm.replies() == 0) continue;
    const double mean = static_cast<double>(arm.nano_usd()) / static_cast<double>(arm.replies());
    costs.push_back(arm.has_least_nano_usd() ? static_cast<double>(arm.least_nano_usd()) : mean);
    costs.push_back(arm.has_most_nano_usd() ? static_cast<double>(arm.most_nano_usd()) : mean);
  }
  const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
  return costs.empty() ? 0 : (*most - *least) * 1e-9;
}

// How cheap each arm is, 1 for the cheapest. All 1 while no cost is known.
std::vector<double> Cheapness(absl::Span<const v1::ModelArm> arms, double total_tries) {
  std::vector<double> known;
  for (const v1::ModelArm& arm : arms) {
    if (arm.replies() > 0) {
      known.push_back(static_cast<double>(arm.nano_usd()) * 1e-9 /
                      static_cast<double>(arm.replies()));
    }
  }
  std::vector<double> cheapness(arms.size(), 1.0);
  if (known.empty()) return cheapness;
  std::sort(known.begin(), known.end());
  const double median = (known[(known.size() - 1) / 2] + known[known.size() / 2]) / 2;
  if (known.back() <= 0) return cheapness;
  const double range = CostRange(arms);
  double most = 0;
  for (size_t i = 0; i < arms.size(); ++i) {
    const double mean = arms[i].replies() > 0 ? static_cast<double>(arms[i].nano_usd()) * 1e-9 /
                                                    static_cast<double>(arms[i].replies())
                                              : median;
    const auto replies = static_cast<double>(std::max<int64_t>(arms[i].replies(), 1));
    const double bonus = kCostExploration * range * std::sqrt(2 * std::log(total_tries) / replies);
    cheapness[i] = std::max(median, kLeastCost) / std::max(mean - bonus, kLeastCost);
    most = std::max(most, cheapness[i]);
  }
  for (double& value : cheapness) value /= most;
  return cheapness;
}

}  // namespace

ChoiceRules ChoiceRulesOf(const v1::RunConfig& config) {
  ChoiceRules rules;
  rules.ucb = config.model_choice() == v1::MODEL_CHOICE_UCB;
  const v1::UcbSettings& given = config.ucb();
  if (given.has_cost_weight()) rules.cost_weight = given.cost_weight();
  if (given.has_exploration()) rules.exploration = given.exploration();
  if (given.has_epsilon()) rules.epsilon = given.epsilon();
  if (given.has_decay()) rules.decay = given.decay();
  return rules;
}

double ChoiceDraw(uint64_t seed, int64_t call_number) {
  return Rng(seed ^ kStream, static_cast<uint64_t>(call_number)).NextDouble();
}

size_t ChooseArm(absl::Span<const v1::ModelArm> arms, absl::Span<const double> weights,
                 const ChoiceRules& rules, double draw) {
  if (!rules.ucb) return Pick({weights.begin(), weights.end()}, draw);
  std::vector<double> untried;
  double total = 0;
  for (const v1::ModelArm& arm : arms) {
    untried.push_back(Tries(arm) == 0 ? 1 : 0);
    total += Tries(arm);
  }
  if (std::any_of(untried.begin(), untried.end(), [](double share) { return share > 0; })) {
    return Pick(untried, draw);
  }
  if (arms.size() == 1) return 0;
  const std::vector<double> cheapness = Cheapness(arms, total);
  std::vector<size_t> best;
  double best_score = 0;
  for (size_t i = 0; i < arms.size(); ++i) {
    const v1::ModelArm& arm = arms[i];
    double score = arm.count() > 0 && arm.best() > 0 ? arm.worth() / arm.count() / arm.best() : 0;
    score += rules.exploration * std::sqrt(2 * std::log(total) / Tries(arm));
    score = (1 - rules.cost_weight) * score + rules.cost_weight * cheapness[i];
    if (i == 0 || score > best_score) {
      best.clear();
      best_score = score;
    }
    if (score == best_score) best.push_back(i);
  }
  if (best.size() == arms.size()) return Pick(std::vector<double>(arms.size(), 1), draw);
  std::vector<double> shares(arms.size(),
                             rules.epsilon / static_cast<double>(arms.size() - best.size()));
  for (const size_t i : best) shares[i] = (1 - rules.epsilon) / static_cast<double>(best.size());
  return Pick(shares, draw);
}

void NoteCost(int64_t nano_usd, v1::ModelArm* arm) {
  // In a run begun by an older version, the first call kept may not be the first made.
  const bool known = arm->has_least_nano_usd();
  arm->set_least_nano_usd(known ? std::min(arm->least_nano_usd(), nano_usd) : nano_usd);
  arm->set_most_nano_usd(known ? std::max(arm->most_nano_usd(), nano_usd) : nano_usd);
  arm->set_replies(arm->replies() + 1);
  arm->set_nano_usd(arm->nano_usd() + nano_usd);
}

void NoteGain(absl::Span<v1::ModelArm* const> arms, size_t index, double gain,
              const ChoiceRules& rules) {
  const double value = std::expm1(std::clamp(gain, 0.0, kMaxGain));
  v1::ModelArm& arm = *arms[index];
  arm.set_completed(arm.completed() + 1);
  arm.set_worth(arm.worth() + value);
  arm.set_count(arm.count() + 1);
  double best = value;
  for (const v1::ModelArm* other : arms) best = std::max(best, other->best());
  // Sums of e^gain - 1 fade a little faster than their counts, so that one lucky result does not
  // last.
  const auto fade = [&](double sum) { return rules.decay * sum / (1 + (1 - rules.decay) * sum); };
  best = fade(best);
  for (v1::ModelArm* other : arms) {
    other->set_worth(fade(other->worth()));
    other->set_count(rules.decay * other->count());
    if (other->count() > 0) best = std::max(best, other->worth() / other->count());
  }
  for (v1::ModelArm* other : arms) other->set_best(best);
}

}  // namespace ksearch

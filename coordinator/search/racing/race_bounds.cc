#include "coordinator/search/racing/race_bounds.h"

#include <algorithm>
#include <cmath>

#include "coordinator/search/attempts/attempt_policy.h"

namespace ksearch {
namespace {

// The prior before any measurement: an attempt gains 10 % with a deviation of 20 %.
constexpr Gains kUsual = {0.1, 0.2};
constexpr double kPriorAttempts = 2;

// The total weight of the smoothed observations so far, at most 1.
double Seen(const v1::RacingState::Line& line, double decay) {
  return 1 - std::pow(decay, line.measured());
}

double ErrorOf(const v1::EvaluationLogState& log, const std::string& candidate_id) {
  const auto known = log.screened().find(candidate_id);
  return known == log.screened().end() ? 0 : known->second.score_error();
}

}  // namespace

std::optional<double> LogScore(const v1::EvaluationLogState& log, const std::string& candidate_id) {
  const auto known = log.screened().find(candidate_id);
  if (known == log.screened().end() || !known->second.passed() || !(known->second.score() > 0)) {
    return std::nullopt;
  }
  return std::log(known->second.score());
}

void NoteGain(double gain, double decay, v1::RacingState::Line* line) {
  line->set_momentum(decay * line->momentum() + (1 - decay) * gain);
  line->set_square(decay * line->square() + (1 - decay) * gain * gain);
  line->set_measured(line->measured() + 1);
}

std::optional<double> Momentum(const v1::RacingState::Line& line, double decay) {
  if (line.measured() == 0) return std::nullopt;
  const double seen = Seen(line, decay);
  return seen > 0 ? line.momentum() / seen : 0;
}

Gains GainsOf(const v1::RacingState& books, const v1::RacingState::Line& line, double decay) {
  double mean = 0;
  double square = 0;
  double attempts = 0;
  for (const v1::RacingState::Line& other : books.lines()) {
    if (other.measured() == 0) continue;
    const double weight = other.measured() / std::max(Seen(other, decay), 1e-12);
    mean += weight * other.momentum();
    square += weight * other.square();
    attempts += other.measured();
  }
  Gains pooled = kUsual;
  if (attempts > 0) {
    // The usual gains weigh as much as two attempts here, too.
    const double usual_square = kUsual.deviation * kUsual.deviation + kUsual.mean * kUsual.mean;
    mean = (mean + kPriorAttempts * kUsual.mean) / (attempts + kPriorAttempts);
    square = (square + kPriorAttempts * usual_square) / (attempts + kPriorAttempts);
    pooled = {mean, std::sqrt(std::max(0.0, square - mean * mean))};
  }
  if (line.measured() == 0) return pooled;
  const double seen = std::max(Seen(line, decay), 1e-12);
  const double own_mean = line.momentum() / seen;
  const double own_variance = std::max(0.0, line.square() / seen - own_mean * own_mean);
  const double weight = line.measured() / (line.measured() + kPriorAttempts);
  return {weight * own_mean + (1 - weight) * pooled.mean,
          std::sqrt(weight * own_variance + (1 - weight) * pooled.deviation * pooled.deviation)};
}

std::string TipOf(const v1::EvaluationLogState& log, const v1::RacingState::Line& line) {
  for (auto id = line.chain().rbegin(); id != line.chain().rend(); ++id) {
    if (LogScore(log, *id).has_value()) return *id;
  }
  return "";
}

double UpperBound(const v1::AttemptSearchState& state, const v1::RacingState::Line& line,
                  double attempts, const v1::RacingSettings& settings) {
  const v1::EvaluationLogState& log = state.log();
  double start = 0;
  const std::string tip = TipOf(log, line);
  if (const auto score = LogScore(log, tip); score.has_value()) {
    start = *score + ErrorOf(log, tip);
  } else {
    double sum = 0;
    int count = 0;
    for (const v1::RacingState::Line& other : state.racing().lines()) {
      const auto known = LogScore(log, TipOf(log, other));
      if (!known.has_value()) continue;
      sum += *known;
      ++count;
    }
    start = count > 0 ? sum / count : 0;
  }
  const Gains gains = GainsOf(state.racing(), line, settings.momentum_decay());
  return start + attempts * gains.mean +
         settings.optimism() * std::sqrt(attempts) * gains.deviation;
}

std::optional<double> BarToBeat(const v1::EvaluationLogState& log) {
  const v1::ScreenedProgram* best = BestStanding(log);
  if (best == nullptr || !(best->score() > 0)) return std::nullopt;
  return std::log(best->score()) - best->score_error();
}

}  // namespace ksearch

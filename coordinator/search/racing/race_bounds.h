#ifndef KSEARCH_COORDINATOR_SEARCH_RACING_RACE_BOUNDS_H_
#define KSEARCH_COORDINATOR_SEARCH_RACING_RACE_BOUNDS_H_

#include <optional>
#include <string>

#include "proto/config.pb.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// Everything is in logarithms of scores: a gain of 0.1 is 10 % everywhere.

// The bounds of a program that stands; nullopt: it does not.
std::optional<double> LogScore(const v1::EvaluationLogState& log, const std::string& candidate_id);

// What attempts on a line have gained: mean and standard deviation per attempt.
struct Gains {
  double mean = 0;
  double deviation = 0;
};

// Notes what one more attempt on a line gained (0 or more).
void NoteGain(double gain, double decay, v1::RacingState::Line* line);
// The smoothed gain per attempt of a line alone; nullopt: no attempt was measured yet.
std::optional<double> Momentum(const v1::RacingState::Line& line, double decay);
// A line's own gains, drawn toward those of all lines as long as it has few of its own (worth two
// attempts); before any was measured, what kernels usually gain.
Gains GainsOf(const v1::RacingState& books, const v1::RacingState::Line& line, double decay);

// The last program of a line's chain that stands; empty: none does.
std::string TipOf(const v1::EvaluationLogState& log, const v1::RacingState::Line& line);

// How far a line may still come in `attempts` more attempts: its tip, the upper end of that one's
// interval, the gains expected, and `optimism` standard deviations of them. A line without a
// program that works is judged by the average tip of the others, for nothing is known of it.
double UpperBound(const v1::AttemptSearchState& state, const v1::RacingState::Line& line,
                  double attempts, const v1::RacingSettings& settings);

// What has to be beaten: the best program that stands, at the lower end of its interval; nullopt:
// nothing stands.
std::optional<double> BarToBeat(const v1::EvaluationLogState& log);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_RACING_RACE_BOUNDS_H_

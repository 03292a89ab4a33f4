#ifndef KSEARCH_COORDINATOR_SEARCH_RACING_RACE_BOUNDS_H_
#define KSEARCH_COORDINATOR_SEARCH_RACING_RACE_BOUNDS_H_

#include <optional>
#include <string>

#include "proto/config.pb.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// All values are logarithms of scores, so a gain of 0.1 always means about 10 %.

// The bounds of a program that passed and was not refused; else nullopt.
std::optional<double> LogScore(const v1::EvaluationLogState& log, const std::string& candidate_id);

// The gains of attempts on a line: mean and standard deviation per attempt.
struct Gains {
  double mean = 0;
  double deviation = 0;
};

// Records the gain (0 or more) of one more attempt on a line.
void NoteGain(double gain, double decay, v1::RacingState::Line* line);
// The smoothed gain per attempt of a line alone; nullopt: no attempt was measured yet.
std::optional<double> Momentum(const v1::RacingState::Line& line, double decay);
// A line's gains, shrunk toward those of all lines while it has few of its own (the prior is worth
// two attempts); before any was measured, the usual gains of kernels.
Gains GainsOf(const v1::RacingState& books, const v1::RacingState::Line& line, double decay);

// The last program of a line's chain that passed and was not refused; empty if there is none.
std::string TipOf(const v1::EvaluationLogState& log, const v1::RacingState::Line& line);

// How far a line may get in `attempts` more attempts: the upper end of its tip's interval, plus the
// expected gains, plus `optimism` of their standard deviations. A line without a program that works
// is judged by the average tip of the other lines, since nothing is known about it.
double UpperBound(const v1::AttemptSearchState& state, const v1::RacingState::Line& line,
                  double attempts, const v1::RacingSettings& settings);

// The value to beat: the lower end of the interval of the best program that passed and was not
// refused; nullopt if there is none.
std::optional<double> BarToBeat(const v1::EvaluationLogState& log);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_RACING_RACE_BOUNDS_H_

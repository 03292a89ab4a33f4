#ifndef KSEARCH_COORDINATOR_SEARCH_RACING_RACING_H_
#define KSEARCH_COORDINATOR_SEARCH_RACING_RACING_H_

#include <optional>
#include <string>
#include <vector>

#include "coordinator/search/attempts/attempt_policy.h"
#include "coordinator/search/setting_faults.h"
#include "proto/config.pb.h"

namespace ksearch {

// Strategy racing, this project's own. A line is a plan and the chain of programs that realize it,
// each better than the one before. Several lines are open at once, and every attempt goes to the
// one that may come farthest with what is left of the budget (race_bounds.h); a line whose upper
// bound is below what has to be beaten is dropped. A line that stops gaining returns to an earlier
// program of its chain, a few times, and is then closed; another plan takes its place, starting
// from the specification or from a program of another line. Results of attempts are shared with all
// lines at once. Plans come from a model, several at a time.
class Racing : public AttemptPolicy {
 public:
  // `settings` must be complete. `rounds`: the run's budget.
  Racing(const v1::RacingSettings& settings, int rounds) : settings_(settings), rounds_(rounds) {}

  static void Complete(int parallel, v1::RacingSettings* settings, SettingFaults* faults);

  bool shows_results() const override { return true; }
  // No attempt begins before the first plans have arrived.
  bool MayBegin(const State& state) const override;
  v1::AttemptPlan Plan(State* state, Rng& rng) const override;
  void TakeGiven(const v1::ScreenedProgram& program, const v1::ProgramFeatures& features,
                 State* state, Rng& rng) const override;
  void TakeEnded(const EndedAttempt& ended, State* state, Rng& rng) const override;
  std::optional<v1::NoteState> WantedNote(const State& state) const override;
  void TakeNote(const v1::NoteState& note, const std::vector<std::string>& points,
                State* state) const override;

 private:
  using Line = v1::RacingState::Line;

  // The line that the next attempt belongs to; at least one is open.
  Line* ChooseLine(State* state) const;
  // Opens lines until there are as many as wanted.
  void OpenLines(State* state, Rng& rng) const;
  void OpenLine(State* state, Rng& rng) const;
  void TakeProgram(const EndedAttempt& ended, Line* line, State* state, Rng& rng) const;
  // Returns to an earlier program or closes the line if it stopped gaining.
  void CheckMomentum(Line* line, State* state, Rng& rng) const;
  void DropHopeless(State* state) const;
  void AddEvidence(const State& state, const Line& line, v1::AttemptPlan* plan) const;
  // The number of attempts that a line can expect.
  double AttemptsFor(const State& state) const;

  const v1::RacingSettings settings_;
  const int rounds_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_RACING_RACING_H_

#ifndef KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_POLICY_H_
#define KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_POLICY_H_

#include <optional>
#include <string>
#include <vector>

#include "common/rng.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// Attempts that have ended of which the state keeps a record.
inline constexpr int kKeptAttempts = 32;

// An attempt at its end.
struct EndedAttempt {
  const v1::AttemptState& attempt;
  // What is known of its program, also if an earlier attempt had the same one screened; null: it
  // has none, or its screening was lost.
  const v1::ScreenedProgram* program = nullptr;
  bool repeated = false;  // the program is an earlier attempt's
};

// Why a program is not worth its evaluation.
struct Objection {
  std::string why;
  // The attempt ends without an evaluation; else it asks again, from another plan.
  bool ends_attempt = false;
};

// What makes one strategy of attempts differ from another: what the next attempt is built from.
// AttemptSearch does everything else. A pure function of the state and of what is drawn from `rng`,
// whose position is part of the state, so that a restored search plans as it would have. A strategy
// that remembers more than the evaluations keeps it in its own message of the state.
class AttemptPolicy {
 public:
  using State = v1::AttemptSearchState;

  virtual ~AttemptPolicy() = default;

  // Whether its prompts show what was measured: else profiles are not worth their time.
  virtual bool shows_results() const = 0;
  // Whether the features of programs have a sketch.
  virtual bool sketches() const { return false; }
  // Whether programs are embedded before they are objected to; the strategy has the role
  // "embedding" then.
  virtual bool embeds() const { return false; }

  // False: the next attempt has to wait for the end of one under way, or of a question in words.
  virtual bool MayBegin(const State& /*state*/) const { return true; }
  // `state`: with every attempt that has ended, and the others under way.
  virtual v1::AttemptPlan Plan(State* state, Rng& rng) const = 0;

  // The given programs, passed or not, one by one before the first attempt.
  virtual void TakeGiven(const v1::ScreenedProgram& /*program*/,
                         const v1::ProgramFeatures& /*features*/, State* /*state*/,
                         Rng& /*rng*/) const {}
  // `ended.attempt` is no longer among those under way.
  virtual void TakeEnded(const EndedAttempt& /*ended*/, State* /*state*/, Rng& /*rng*/) const {}
  // Before the program of `attempt` is evaluated.
  virtual std::optional<Objection> ObjectionTo(const v1::AttemptState& /*attempt*/,
                                               const State& /*state*/) const {
    return std::nullopt;
  }

  // A question in words that is wanted now; the strategy has a role "notes" then. Asked until it is
  // among state.notes or no longer wanted.
  virtual std::optional<v1::NoteState> WantedNote(const State& /*state*/) const {
    return std::nullopt;
  }
  // Its answer; no points: there was none that could be used. `note` has left state.notes.
  virtual void TakeNote(const v1::NoteState& /*note*/, const std::vector<std::string>& /*points*/,
                        State* /*state*/) const {}
};

// The program with the best score among those that passed and stand; null: there is none. Of equal
// ones, the earlier one.
const v1::ScreenedProgram* BestStanding(const v1::EvaluationLogState& log);

// The given programs that were screened, in the order in which they were given.
std::vector<const v1::ScreenedProgram*> GivenPrograms(const v1::EvaluationLogState& log);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_POLICY_H_

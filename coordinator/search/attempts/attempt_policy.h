#ifndef KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_POLICY_H_
#define KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_POLICY_H_

#include <optional>
#include <string>
#include <vector>

#include "common/rng.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// Number of ended attempts that the state keeps a record of.
inline constexpr int kKeptAttempts = 32;

// An attempt that has ended.
struct EndedAttempt {
  const v1::AttemptState& attempt;
  // What is known about its program, even if the program was screened for an earlier attempt; null
  // if it has no program, or if its screening was lost.
  const v1::ScreenedProgram* program = nullptr;
  bool repeated = false;  // the program is an earlier attempt's
};

// Why a program is not worth an evaluation.
struct Objection {
  std::string why;
  // True: the attempt ends without an evaluation. False: it asks again, with another plan.
  bool ends_attempt = false;
};

// Decides what the next attempt is built from, which is the difference between strategies of
// attempts; AttemptSearch does everything else. Depends only on the state and on draws from `rng`,
// whose position is part of the state, so that a restored search makes the same plans. A strategy
// that remembers more than evaluations keeps it in its own message in the state.
class AttemptPolicy {
 public:
  using State = v1::AttemptSearchState;

  virtual ~AttemptPolicy() = default;

  // Returns true if its prompts show measurements; if not, profiles are not worth their time.
  virtual bool shows_results() const = 0;
  // Returns true if the features of programs have a sketch.
  virtual bool sketches() const { return false; }
  // Returns true if programs are embedded before ObjectionTo is asked; if so, the strategy has the
  // role "embedding".
  virtual bool embeds() const { return false; }

  // Returns false if the next attempt must wait until an attempt, or a question in words, has
  // ended.
  virtual bool MayBegin(const State& /*state*/) const { return true; }
  // `state` includes every attempt that has ended and all attempts in progress.
  virtual v1::AttemptPlan Plan(State* state, Rng& rng) const = 0;

  // Called for each given program, passed or not, before the first attempt.
  virtual void TakeGiven(const v1::ScreenedProgram& /*program*/,
                         const v1::ProgramFeatures& /*features*/, State* /*state*/,
                         Rng& /*rng*/) const {}
  // `ended.attempt` is no longer among those in progress.
  virtual void TakeEnded(const EndedAttempt& /*ended*/, State* /*state*/, Rng& /*rng*/) const {}
  // Called before the program of `attempt` is evaluated.
  virtual std::optional<Objection> ObjectionTo(const v1::AttemptState& /*attempt*/,
                                               const State& /*state*/) const {
    return std::nullopt;
  }

  // The question in words that should be asked now, if any; such a strategy has the role "notes".
  // Called until the question is among state.notes or no longer wanted.
  virtual std::optional<v1::NoteState> WantedNote(const State& /*state*/) const {
    return std::nullopt;
  }
  // Takes its answer; without points if the answer could not be used. `note` is no longer in
  // state.notes.
  virtual void TakeNote(const v1::NoteState& /*note*/, const std::vector<std::string>& /*points*/,
                        State* /*state*/) const {}
};

// The program with the best score among those that passed and were not refused (among equals, the
// earlier one); null if there is none.
const v1::ScreenedProgram* BestStanding(const v1::EvaluationLogState& log);

// The given programs that were screened, in the order in which they were given.
std::vector<const v1::ScreenedProgram*> GivenPrograms(const v1::EvaluationLogState& log);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_POLICY_H_

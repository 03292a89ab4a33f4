#ifndef KSEARCH_COORDINATOR_SEARCH_EVALUATION_LOG_H_
#define KSEARCH_COORDINATOR_SEARCH_EVALUATION_LOG_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/search/evaluation_rules.h"
#include "coordinator/search/saved_programs.h"
#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// The bookkeeping that all strategies share: the baseline's times, the given program, screenings
// and their outcomes, duplicates, profiles, examinations, confirmations, and failed model calls. A
// strategy asks it what to evaluate and passes it the results; the strategy itself decides which
// program to build on. Exists for one step; borrows everything.
class EvaluationLog {
 public:
  // `saved` is notified of every screened program that changes.
  EvaluationLog(const EvaluationRules& rules, v1::EvaluationLogState* state, SavedPrograms* saved)
      : rules_(rules), state_(*state), saved_(*saved) {}

  // ---- the baseline's times
  // Asks for them, unless they are waited for.
  void TimeBaseline(StepOutput* out);
  // Returns false if `result` is not the awaited one. True if it was recorded and nothing is
  // outstanding anymore.
  bool TakeBaseline(const ScreenResult& result, StepOutput* out);

  // ---- the given program
  // Asks for its screening, unless that is waited for.
  void ScreenSeed(const v1::RunConfig& config, StepOutput* out);
  // Each returns the program once it is screened and, if wanted, profiled; nullopt if `result` is
  // something else or a profile is now outstanding. The caller sets `seed` afterwards.
  std::optional<v1::ScreenedProgram> TakeSeed(const ScreenResult& result,
                                              const v1::RunConfig& config, StepOutput* out);
  std::optional<v1::ScreenedProgram> TakeSeedProfile(const ScreenResult& result, StepOutput* out);

  // ---- the given programs beyond the first, where there are such
  // Asks for the screenings of those that were not asked for yet.
  void ScreenMoreSeeds(const v1::RunConfig& config, StepOutput* out);
  // Returns false if `result`, a screening or a profile, is not of these programs. True if it was
  // recorded.
  bool TakeMoreSeed(const ScreenResult& result, const v1::RunConfig& config, StepOutput* out);
  // Returns true if no result of these programs is outstanding.
  bool HasMoreSeeds(const v1::RunConfig& config) const;

  // ---- screenings
  // Notes the result of a screening. The program returned has its sources and a short result.
  v1::ScreenedProgram Record(const v1::JobResult& result, const std::string& candidate_id,
                             const v1::Sources& sources, int round);
  // What is known about a program that was screened before; null if nothing. Without sources, and
  // without a result unless the rules say to keep it.
  const v1::ScreenedProgram* Find(const std::string& candidate_id) const;

  // ---- an end near the floor (RunConfig.floor_share)
  bool IsAtFloor(const v1::ScreenedProgram& program) const;
  // Returns the program nearest to the floor among those at the floor that were not refused; null
  // if there is none.
  const v1::ScreenedProgram* FindAtFloor() const;

  // ---- profiles (profiling.h)
  bool WantsProfile(const v1::ScreenedProgram& program, bool shown) const;
  ProfileCandidate ProfilingOf(const v1::ScreenedProgram& program,
                               const std::string& screen_tag) const;
  // Stores the profile in `program` and returns a line for the event.
  std::string TakeProfile(const v1::JobResult& result, v1::ScreenedProgram* program);

  // ---- examinations and confirmations (examination.h, confirmation.h)
  // `best_score`: of the best program that this one would take the place of, if there is one.
  bool WantsExamination(const v1::ScreenedProgram& program, std::optional<double> best_score) const;
  struct Examined {
    std::string line;  // for people
    // Set if the program was refused for the first time: nothing may build on it anymore.
    std::optional<v1::ConfirmedProgram> refusal;
  };
  // `findings` describes the result in words that models may read.
  Examined TakeExamination(const v1::JobResult& result, const std::string& candidate_id,
                           const std::vector<std::string>& findings);
  v1::ConfirmedProgram TakeConfirmation(const Confirmation& confirmation,
                                        const std::vector<std::string>& findings);
  const v1::ConfirmedProgram* ConfirmationOf(const std::string& candidate_id) const;
  bool IsRefused(const std::string& candidate_id) const;
  // From now on, a refused program counts as failed.
  void Withdraw(const std::string& candidate_id);

  // ---- model calls
  void NoteAnswer() { state_.clear_consecutive_failures(); }
  // Why the search has to stop: every further call would fail in the same way, or this was the
  // third failure in a row. nullopt: it may continue.
  std::optional<std::string> NoteFailedCall(const absl::Status& status);

 private:
  const EvaluationRules& rules_;
  v1::EvaluationLogState& state_;
  SavedPrograms& saved_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_EVALUATION_LOG_H_

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

// The bookkeeping that all strategies share: the baseline's times, the given program, what was
// screened and with what outcome, duplicates, profiles, examinations, confirmations, and model
// calls that fail. A strategy asks it what to evaluate and passes it the results; which program
// to build on is the strategy's own business. Lives for one step; borrows everything.
class EvaluationLog {
 public:
  // `saved` is notified of every screened program that changes.
  EvaluationLog(const EvaluationRules& rules, v1::EvaluationLogState* state, SavedPrograms* saved)
      : rules_(rules), state_(*state), saved_(*saved) {}

  // ---- the baseline's times
  // Asks for them, unless they are waited for.
  void TimeBaseline(StepOutput* out);
  // False: `result` is not the awaited one. True: noted, and nothing is awaited now.
  bool TakeBaseline(const ScreenResult& result, StepOutput* out);

  // ---- the given program
  // Asks for its screening, unless that is waited for.
  void ScreenSeed(const v1::RunConfig& config, StepOutput* out);
  // Each returns the program once it is screened, and profiled if it is to be; nullopt: `result` is
  // something else, or a profile is waited for now. What `seed` is then is for the caller to set.
  std::optional<v1::ScreenedProgram> TakeSeed(const ScreenResult& result,
                                              const v1::RunConfig& config, StepOutput* out);
  std::optional<v1::ScreenedProgram> TakeSeedProfile(const ScreenResult& result, StepOutput* out);

  // ---- the given programs beyond the first, where there are such
  // Asks for the screenings of those that were not asked for yet.
  void ScreenMoreSeeds(const v1::RunConfig& config, StepOutput* out);
  // False: `result`, a screening or a profile, is none of theirs. True: noted.
  bool TakeMoreSeed(const ScreenResult& result, const v1::RunConfig& config, StepOutput* out);
  // True: none of these programs is awaited now.
  bool HasMoreSeeds(const v1::RunConfig& config) const;

  // ---- screenings
  // Notes the result of a screening. The program returned has its sources and a short result.
  v1::ScreenedProgram Record(const v1::JobResult& result, const std::string& candidate_id,
                             const v1::Sources& sources, int round);
  // What is known of a program that was screened before; null: nothing. Without sources, and
  // without a result unless the rules keep it.
  const v1::ScreenedProgram* Find(const std::string& candidate_id) const;

  // ---- an end near the floor (RunConfig.floor_share)
  bool IsAtFloor(const v1::ScreenedProgram& program) const;
  // The one that is nearest among the programs at the floor that stand; null: there is none.
  const v1::ScreenedProgram* FindAtFloor() const;

  // ---- profiles (profiling.h)
  bool WantsProfile(const v1::ScreenedProgram& program, bool shown) const;
  ProfileCandidate ProfilingOf(const v1::ScreenedProgram& program,
                               const std::string& screen_tag) const;
  // Puts the profile into `program` and returns the line to tell.
  std::string TakeProfile(const v1::JobResult& result, v1::ScreenedProgram* program);

  // ---- examinations and confirmations (examination.h, confirmation.h)
  // `best_score`: of the best program that this one would take the place of, if there is one.
  bool WantsExamination(const v1::ScreenedProgram& program, std::optional<double> best_score) const;
  struct Examined {
    std::string line;  // for people
    // The program was refused, and nobody had refused it before: nothing may build on it.
    std::optional<v1::ConfirmedProgram> refusal;
  };
  // `findings`: of the result, in words that models may read.
  Examined TakeExamination(const v1::JobResult& result, const std::string& candidate_id,
                           const std::vector<std::string>& findings);
  v1::ConfirmedProgram TakeConfirmation(const Confirmation& confirmation,
                                        const std::vector<std::string>& findings);
  const v1::ConfirmedProgram* ConfirmationOf(const std::string& candidate_id) const;
  bool IsRefused(const std::string& candidate_id) const;
  // A refused program counts as one that failed from now on.
  void Withdraw(const std::string& candidate_id);

  // ---- model calls
  void NoteAnswer() { state_.clear_consecutive_failures(); }
  // Why the search has to stop: every further call would fail so, or this was the third in a row.
  // nullopt: it may continue.
  std::optional<std::string> NoteFailedCall(const absl::Status& status);

 private:
  const EvaluationRules& rules_;
  v1::EvaluationLogState& state_;
  SavedPrograms& saved_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_EVALUATION_LOG_H_

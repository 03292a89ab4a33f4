#ifndef KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_SEARCH_H_
#define KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_SEARCH_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/rng.h"
#include "coordinator/search/attempts/attempt_policy.h"
#include "coordinator/search/attempts/attempt_question.h"
#include "coordinator/search/evaluation_log.h"
#include "coordinator/search/evaluation_rules.h"
#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

inline constexpr int kAttemptSearchStateVersion = 1;

// A strategy that makes single attempts: a prompt, the program in the reply, its screening, and
// then its examination and profile if they are wanted. `parallel` attempts are in flight at once.
// Each counts as one round, even without a usable program; if a reply has none, the model is asked
// once more. A program that was screened before is not screened again. The policy decides what each
// attempt is built from.
//
// One class in several files: attempt_search.cc has its stages, attempt_answers.cc what becomes of
// the model's answers, attempt_embedding.cc and attempt_notes.cc the other calls it makes, and
// attempt_evaluation.cc what is done with an attempt's program.
//
// The state holds ids; sources and results are read from SearchContext.programs. If that fails the
// run fails, and may be resumed.
class AttemptSearch : public SearchStrategy {
 public:
  // `name` is the strategy's, as in RunConfig.strategy.
  AttemptSearch(std::string name, const SearchContext& context, AttemptProposer proposer,
                std::unique_ptr<const AttemptPolicy> policy);

  StepOutput Start() override;
  StepOutput OnAnswer(const ModelAnswer& answer) override;
  StepOutput OnScreened(const ScreenResult& result) override;
  StepOutput OnProfiled(const ScreenResult& result) override;
  StepOutput OnExamined(const ScreenResult& result) override;
  StepOutput OnBaseline(const ScreenResult& result) override;
  StepOutput OnConfirmed(const Confirmation& confirmation) override;
  std::string Save() const override;
  // DATA_LOSS also if the state belongs to another strategy.
  absl::StatusOr<StepOutput> Restore(const std::string& state) override;
  void Describe(v1::RunStatus* status) const override;
  const v1::WorldModel* world_model() const override { return nullptr; }

 private:
  using State = v1::AttemptSearchState;

  // Of texts that say why something is as it is.
  static constexpr size_t kMaxReason = 300;

  // ---- attempt_answers.cc
  // UNAVAILABLE: the program that it changes cannot be read; other errors as for ProgramIn.
  absl::StatusOr<v1::Sources> ProgramOf(const LlmReply& reply, const v1::AttemptPlan& plan) const;
  void FoldAnswer(const LlmReply& reply, v1::AttemptState* attempt, StepOutput* out);
  void FoldFailedCall(const absl::Status& status, v1::AttemptState* attempt, StepOutput* out);
  void FoldVerdict(const ModelAnswer& answer, v1::AttemptState* attempt, StepOutput* out);
  // Has the attempt's program screened, unless the strategy objects to it or it is already known.
  // Invalidates pointers to attempts.
  void Admit(const v1::Sources& sources, v1::AttemptState* attempt, StepOutput* out);
  // Invalidates attempts.
  void FoldObjection(const Objection& objection, v1::AttemptState* attempt, StepOutput* out);

  // ---- attempt_embedding.cc
  // Whether programs are embedded, as far as is known.
  bool Embeds() const;
  bool WantsEmbedding(const v1::AttemptState& attempt);
  // Stops embedding programs from now on.
  void RefuseEmbeddings(const std::string& fault, StepOutput* out);
  // The attempt's program, whether or not it was screened.
  absl::StatusOr<v1::Sources> SourcesOf(const v1::AttemptState& attempt) const;
  // Invalidates attempts.
  void FoldEmbedding(const ModelAnswer& answer, v1::AttemptState* attempt, StepOutput* out);
  // Returns false if it is not the answer to a call that embeds a given program.
  bool FoldGivenEmbedding(const ModelAnswer& answer, StepOutput* out);
  // Requests embeddings of the given programs; true: none is outstanding.
  bool EmbedGiven(StepOutput* out);
  v1::GivenEmbedding* FindGivenEmbedding(const std::string& candidate_id);

  // ---- attempt_evaluation.cc
  // Returns true if the attempt may have ended.
  bool ServeScreen(v1::AttemptState* attempt, StepOutput* out);
  void Screen(v1::Sources sources, v1::AttemptState* attempt, StepOutput* out);
  // Has a program that passed examined and profiled if that is wanted; then the attempt ends.
  // `program` has a result; its sources are read when needed.
  void TakeScreened(v1::ScreenedProgram program, const std::string& screen_tag,
                    v1::AttemptState* attempt, StepOutput* out);
  void TakeExamined(v1::ScreenedProgram program, const std::string& screen_tag,
                    v1::AttemptState* attempt, StepOutput* out);

  // ---- attempt_notes.cc
  void ServeNotes(StepOutput* out);
  void FoldNote(const ModelAnswer& answer, StepOutput* out);

  // ---- attempt_search.cc
  void SettleSeed(const v1::ScreenedProgram& program, StepOutput* out);
  // Continues once no result of a given program is outstanding.
  void SettleSeeds(StepOutput* out);
  // Requests everything that is wanted and not yet in progress.
  void Advance(StepOutput* out);
  v1::AttemptPlan Plan();
  void BeginAttempt();
  void Serve(v1::AttemptState* attempt, StepOutput* out);
  // Returns the call's number, or 0 if the search has failed.
  int64_t Ask(absl::StatusOr<AskModel> ask, StepOutput* out);
  // `fault`: why the attempt produced no program; empty if it did. Invalidates pointers to
  // attempts.
  void EndAttempt(const v1::AttemptState& attempt, const std::string& fault, bool repeated = false);
  void RemoveAttempt(int round);
  void Finish(State::Stage stage, const std::string& reason);

  EvaluationLog log() { return EvaluationLog(rules_, state_.mutable_log(), &saved_); }
  AttemptQuestion question() const {
    return AttemptQuestion(context_, proposer_, state_, policy_->shows_results());
  }
  // The stream of random choices, at position state_.choices; a caller that draws must store the
  // new position.
  Rng Random() const { return Rng(random_key_, static_cast<uint64_t>(state_.choices())); }
  v1::RunEvent* Tell(v1::RunEvent::Kind kind, const std::string& text,
                     const v1::AttemptState& attempt, StepOutput* out) const;
  bool rounds_left() const { return state_.rounds_started() < rounds_; }
  v1::AttemptState* FindAttempt(const std::function<bool(const v1::AttemptState&)>& wanted);

  const std::string name_;
  const SearchContext context_;
  const AttemptProposer proposer_;
  const std::unique_ptr<const AttemptPolicy> policy_;
  const EvaluationRules rules_;
  const uint64_t random_key_;
  const int rounds_;
  const int parallel_;
  State state_;
  mutable SavedPrograms saved_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_SEARCH_H_

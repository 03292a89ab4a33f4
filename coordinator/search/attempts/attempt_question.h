#ifndef KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_QUESTION_H_
#define KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_QUESTION_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/proposer/attempt_prompt.h"
#include "coordinator/proposer/note_prompt.h"
#include "coordinator/search/code_answer.h"
#include "coordinator/search/judge.h"
#include "coordinator/search/search_strategy.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// The role in which strategies of attempts ask for programs, and that of their questions in words.
inline constexpr char kCodeRole[] = "code";
inline constexpr char kNotesRole[] = "notes";
// What calls that embed a program are for.
inline constexpr char kEmbedPurpose[] = "embed";

// The program of a reply that changes the program `base`, in the form that was asked for.
// FAILED_PRECONDITION: it is a patch that does not fit `base`; the message shows which part.
using ParsePatch = std::function<absl::StatusOr<v1::Sources>(
    const std::string& reply, const v1::Sources& base, v1::ReplyForm form)>;

// The proposer as strategies of attempts see it. Pure functions.
struct AttemptProposer {
  std::function<Prompt(const PromptFacts&, const AttemptPromptContext&)> prompt;
  ParseCode parse_code;
  ParsePatch parse_patch;
  std::function<Prompt(const PromptFacts&, const NotePromptContext&)> note_prompt;
  std::function<absl::StatusOr<std::vector<std::string>>(const std::string& reply, int wanted)>
      parse_points;
  // What a confirmation found wrong, in words for models (ConfirmationFindings).
  std::function<std::vector<std::string>(const v1::Task&, const v1::JobResult&,
                                         const std::string& rival_id)>
      read_confirmation;
  JudgeProposer judge = {};
};

// From a saved state, which has ids alone, to what models are shown. Reads programs and results
// from SearchContext.programs, whose errors it returns. Lives for one step; borrows everything.
class AttemptQuestion {
 public:
  AttemptQuestion(const SearchContext& context, const AttemptProposer& proposer,
                  const v1::AttemptSearchState& state, bool shows_results)
      : context_(context), proposer_(proposer), state_(state), shows_results_(shows_results) {}

  absl::StatusOr<v1::Sources> SourcesOf(const std::string& candidate_id) const;
  // A program with its sources, and with its result and profile if it has any.
  absl::StatusOr<v1::ScreenedProgram> Load(const std::string& candidate_id) const;

  // The call number is the caller's to set.
  absl::StatusOr<AskModel> ForProgram(const v1::AttemptState& attempt) const;
  // The judge's look at the program that the attempt changes.
  absl::StatusOr<AskModel> ForJudge(const v1::AttemptState& attempt) const;
  absl::StatusOr<AskModel> ForNote(const v1::NoteState& note) const;
  // `round`: of the attempt whose program it is; 0: a given one.
  AskModel ForEmbedding(const v1::Sources& sources, int round) const;

 private:
  PromptFacts Facts() const;
  std::string HistoryLine(const v1::AttemptRecord& record) const;

  const SearchContext& context_;
  const AttemptProposer& proposer_;
  const v1::AttemptSearchState& state_;
  const bool shows_results_;
};

// What a plan's prompt shows as the program that the reply changes; empty: none is shown.
const std::string& ShownProgram(const v1::AttemptPlan& plan);

// "improve", "debug", ...: the purpose of the calls of such a plan.
const char* PurposeOf(v1::AttemptPlan::Kind kind);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_QUESTION_H_

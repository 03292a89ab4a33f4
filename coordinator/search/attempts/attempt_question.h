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
// The purpose of calls that embed a program.
inline constexpr char kEmbedPurpose[] = "embed";

// Extracts the program from a reply that changes the program `base`, in the requested form.
// FAILED_PRECONDITION: the reply is a patch that does not fit `base`; the message shows the part
// that does not fit.
using ParsePatch = std::function<absl::StatusOr<v1::Sources>(
    const std::string& reply, const v1::Sources& base, v1::ReplyForm form)>;

// The proposer's functions for strategies of attempts. Pure functions.
struct AttemptProposer {
  std::function<Prompt(const PromptFacts&, const AttemptPromptContext&)> prompt;
  ParseCode parse_code;
  ParsePatch parse_patch;
  std::function<Prompt(const PromptFacts&, const NotePromptContext&)> note_prompt;
  std::function<absl::StatusOr<std::vector<std::string>>(const std::string& reply, int wanted)>
      parse_points;
  // Describes for models what a confirmation found wrong (ConfirmationFindings).
  std::function<std::vector<std::string>(const v1::Task&, const v1::JobResult&,
                                         const std::string& rival_id)>
      read_confirmation;
  JudgeProposer judge = {};
};

// Makes prompts from a saved state, which contains only ids. Reads programs and results from
// SearchContext.programs, whose errors it returns. Exists for one step; borrows everything.
class AttemptQuestion {
 public:
  AttemptQuestion(const SearchContext& context, const AttemptProposer& proposer,
                  const v1::AttemptSearchState& state, bool shows_results)
      : context_(context), proposer_(proposer), state_(state), shows_results_(shows_results) {}

  absl::StatusOr<v1::Sources> SourcesOf(const std::string& candidate_id) const;
  // A program with its sources, and with its result and profile if it has any.
  absl::StatusOr<v1::ScreenedProgram> Load(const std::string& candidate_id) const;

  // The caller must set the call number.
  absl::StatusOr<AskModel> ForProgram(const v1::AttemptState& attempt) const;
  // The judge's question about the program that the attempt changes.
  absl::StatusOr<AskModel> ForJudge(const v1::AttemptState& attempt) const;
  absl::StatusOr<AskModel> ForNote(const v1::NoteState& note) const;
  // `round` is that of the program's attempt; 0 for a given program.
  AskModel ForEmbedding(const v1::Sources& sources, int round) const;

 private:
  PromptFacts Facts() const;
  std::string HistoryLine(const v1::AttemptRecord& record) const;

  const SearchContext& context_;
  const AttemptProposer& proposer_;
  const v1::AttemptSearchState& state_;
  const bool shows_results_;
};

// The program that a plan's prompt shows as the one to change; empty if none is shown.
const std::string& ShownProgram(const v1::AttemptPlan& plan);

// "improve", "debug", ...: the purpose of the calls of such a plan.
const char* PurposeOf(v1::AttemptPlan::Kind kind);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ATTEMPTS_ATTEMPT_QUESTION_H_

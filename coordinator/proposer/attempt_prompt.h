#ifndef KSEARCH_COORDINATOR_PROPOSER_ATTEMPT_PROMPT_H_
#define KSEARCH_COORDINATOR_PROPOSER_ATTEMPT_PROMPT_H_

#include <optional>
#include <string>
#include <vector>

#include "coordinator/proposer/prompt.h"

namespace ksearch {

// Wordings of a request to refine a program (AttemptPromptContext.style).
enum RequestStyle {
  kStyleBest = 0,          // the program is the run's best one
  kStyleParent = 1,        // it is one of several
  kStyleNewAlgorithm = 2,  // asks for another algorithm
  kStyleFromContext = 3,   // asks for what the other programs suggest
  kStyleStructure = 4,     // asks for another structure
  kStyleParameters = 5,    // asks for other sizes and parameters
};

// What a prompt of a strategy without a tree shows besides the task. Absent and empty fields are
// not shown.
struct AttemptPromptContext {
  v1::AttemptPlan::Kind kind = v1::AttemptPlan::SAMPLE;
  std::optional<ShownCode> base;             // VARY, REFINE: the program to start from
  std::optional<v1::JobResult> base_result;  // REFINE
  std::optional<v1::ConfirmedProgram> base_confirmation;
  // REPAIR: the program to repair; REFINE: mentioned, but not shown as code
  std::optional<ShownCode> failed;
  std::optional<v1::JobResult> failed_result;
  std::optional<v1::ConfirmedProgram> failed_confirmation;
  std::vector<ShownCode> inspirations;      // other programs
  std::string direction;                    // a model's advice on what to do; may be empty
  std::optional<v1::JudgeVerdict> verdict;  // on the program that is to be changed
  std::vector<std::string> notes;           // models' notes on other attempts
  std::vector<std::string> history;         // one line per earlier attempt, oldest first
  int style = kStyleBest;                   // REFINE, REPAIR
  // Form of the reply; WHOLE if no program is shown to change.
  v1::ReplyForm reply_form = v1::REPLY_FORM_WHOLE;
  // If not empty, why the previous reply was unusable: asks for the whole answer again.
  std::string complaint;
  std::string refused_reply;  // the previous reply, limited in length; may be empty
  // The complaint is about a patch that did not apply: the prompt is short and shows only the
  // program and the part that did not fit.
  bool patch_failed = false;
};

// A pure function. The task, the rules, the format and the words about results are those of
// BuildCodePrompt, so that no strategy has an advantage by its wording.
Prompt BuildAttemptPrompt(const PromptFacts& facts, const AttemptPromptContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_ATTEMPT_PROMPT_H_

#ifndef KSEARCH_COORDINATOR_PROPOSER_ATTEMPT_PROMPT_H_
#define KSEARCH_COORDINATOR_PROPOSER_ATTEMPT_PROMPT_H_

#include <optional>
#include <string>
#include <vector>

#include "coordinator/proposer/prompt.h"

namespace ksearch {

// Wordings of a request to refine a program (AttemptPromptContext.style).
enum RequestStyle {
  kStyleBest = 0,          // the program is the best one of the run
  kStyleParent = 1,        // it is one of several
  kStyleNewAlgorithm = 2,  // and another algorithm is wanted,
  kStyleFromContext = 3,   // or what the other programs suggest,
  kStyleStructure = 4,     // or another structure,
  kStyleParameters = 5,    // or other sizes and parameters
};

// What a prompt of a strategy without a tree shows beside the task. What is absent is not shown.
struct AttemptPromptContext {
  v1::AttemptPlan::Kind kind = v1::AttemptPlan::SAMPLE;
  std::optional<ShownCode> base;             // VARY, REFINE: the program to start from
  std::optional<v1::JobResult> base_result;  // REFINE
  std::optional<v1::ConfirmedProgram> base_confirmation;
  std::optional<ShownCode> failed;  // REPAIR: the program to repair; REFINE: not shown as code
  std::optional<v1::JobResult> failed_result;
  std::optional<v1::ConfirmedProgram> failed_confirmation;
  std::vector<ShownCode> inspirations;      // other programs
  std::string direction;                    // by a model: what to do; may be empty
  std::optional<v1::JudgeVerdict> verdict;  // on the program that is shown to be changed
  std::vector<std::string> notes;           // by models: what is known from other attempts
  std::vector<std::string> history;         // a line for each earlier attempt, oldest first
  int style = kStyleBest;                   // REFINE, REPAIR
  // What the reply is to look like; WHOLE if no program is shown to change.
  v1::ReplyForm reply_form = v1::REPLY_FORM_WHOLE;
  // Non-empty: the previous reply was unusable for this reason; ask for the whole answer again.
  std::string complaint;
  std::string refused_reply;  // that reply, bounded; may be empty
  // The complaint is about a patch that did not fit: a short prompt that has nothing but the
  // program and what did not fit.
  bool patch_failed = false;
};

// A pure function. The task, the rules, the format and the words about results are those of
// BuildCodePrompt, so that no strategy wins by its words.
Prompt BuildAttemptPrompt(const PromptFacts& facts, const AttemptPromptContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_ATTEMPT_PROMPT_H_

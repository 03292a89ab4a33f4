#ifndef KSEARCH_COORDINATOR_PROPOSER_ATTEMPT_PROMPT_H_
#define KSEARCH_COORDINATOR_PROPOSER_ATTEMPT_PROMPT_H_

#include <optional>
#include <string>
#include <vector>

#include "coordinator/proposer/prompt.h"

namespace ksearch {

// What a prompt of a strategy without a tree shows beside the task. What is absent is not shown.
struct AttemptPromptContext {
  v1::AttemptPlan::Kind kind = v1::AttemptPlan::SAMPLE;
  std::optional<ShownCode> base;             // VARY, REFINE: the program to start from
  std::optional<v1::JobResult> base_result;  // REFINE
  std::optional<v1::ConfirmedProgram> base_confirmation;
  std::optional<ShownCode> failed;  // REPAIR: the program to repair; REFINE: not shown as code
  std::optional<v1::JobResult> failed_result;
  std::optional<v1::ConfirmedProgram> failed_confirmation;
  std::vector<std::string> history;  // a line for each earlier attempt, oldest first
  // Non-empty: the previous reply was unusable for this reason; ask for the whole answer again.
  std::string complaint;
  std::string refused_reply;  // that reply, bounded; may be empty
};

// A pure function. The task, the rules, the format and the words about results are those of
// BuildCodePrompt, so that no strategy wins by its words.
Prompt BuildAttemptPrompt(const PromptFacts& facts, const AttemptPromptContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_ATTEMPT_PROMPT_H_

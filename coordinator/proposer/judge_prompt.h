#ifndef KSEARCH_COORDINATOR_PROPOSER_JUDGE_PROMPT_H_
#define KSEARCH_COORDINATOR_PROPOSER_JUDGE_PROMPT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/proposer/prompt.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// What a judge is shown beside the task.
struct JudgePromptContext {
  ShownCode program;
  v1::JobResult result;  // of `program`, with its profile if it has one
  // The program that it was built from, if that is known.
  std::optional<v1::JobResult> parent_result;
  std::string intent;  // what the attempt is to do, in the words of a model; may be empty
  std::vector<std::string> history;  // a line for each earlier attempt, oldest first
  std::string complaint;             // why the previous reply could not be used; may be empty
};

// Asks for one bottleneck, one method and one plan (the idea of CudaForge, arXiv 2511.01884), which
// ParseVerdictReply reads. A pure function.
Prompt BuildJudgePrompt(const PromptFacts& facts, const JudgePromptContext& context);

// Finds them in the reply: one line each that begins with BOTTLENECK:, METHOD: and PLAN:, in any
// order, the first two with words of their vocabularies; lines after PLAN: belong to it.
// INVALID_ARGUMENT says what is missing or unknown, in words for the model.
absl::StatusOr<v1::JudgeVerdict> ParseVerdictReply(absl::string_view reply);

// What the writer of the next program reads about it. Empty without a verdict.
std::string VerdictText(const PromptFacts& facts, const std::optional<v1::JudgeVerdict>& verdict);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_JUDGE_PROMPT_H_

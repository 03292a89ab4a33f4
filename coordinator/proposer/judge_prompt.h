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

// What a judge is shown besides the task.
struct JudgePromptContext {
  ShownCode program;
  v1::JobResult result;  // of `program`, with its profile if it has one
  // Result of the program that it was built from, if known.
  std::optional<v1::JobResult> parent_result;
  std::string intent;                // a model's words on what the attempt is to do; may be empty
  std::vector<std::string> history;  // one line per earlier attempt, oldest first
  std::string complaint;             // why the previous reply was unusable; may be empty
};

// Asks for one bottleneck, one method and one plan (the idea of CudaForge, arXiv 2511.01884), which
// ParseVerdictReply reads. A pure function.
Prompt BuildJudgePrompt(const PromptFacts& facts, const JudgePromptContext& context);

// Parses a judge's reply: one line each that begins with BOTTLENECK:, METHOD: and PLAN:, in any
// order, the first two with words of their vocabularies; lines after PLAN: belong to it.
// INVALID_ARGUMENT says what is missing or unknown, in words for the model.
absl::StatusOr<v1::JudgeVerdict> ParseVerdictReply(absl::string_view reply);

// The verdict in words for the writer of the next program. Empty without a verdict.
std::string VerdictText(const PromptFacts& facts, const std::optional<v1::JudgeVerdict>& verdict);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_JUDGE_PROMPT_H_

#ifndef KSEARCH_COORDINATOR_PROPOSER_CODE_PROMPT_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_CODE_PROMPT_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/proposer/prompt.h"

namespace ksearch {

// The fixed text of code prompts: to change what models are told, edit code_prompt_text.cc.

// "You are ...", with language and target hardware.
std::string CodeRoleText(const PromptFacts& facts);
// The rules for programs in this language.
std::string CodeRulesText(const PromptFacts& facts);
// The rules and the entry point as far as a plan depends on them.
std::string PlanningRulesText(const PromptFacts& facts);
// How a call is timed, and the measured peaks of the device.
std::string MeasuringText(const PromptFacts& facts);
// The form of the answer.
std::string CodeFormatText(const PromptFacts& facts);
// What usually makes programs faster on the target. Never empty.
std::string HardwareHintsText(const PromptFacts& facts);
// The entry point in words, followed by the header or signature.
std::string EntryPointText(const PromptFacts& facts);
// The request itself. `paper`: an improve prompt does not mention the action.
std::string CodeRequestText(const CodePromptContext& context, bool paper);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_CODE_PROMPT_TEXT_H_

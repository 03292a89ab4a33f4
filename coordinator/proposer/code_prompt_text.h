#ifndef KSEARCH_COORDINATOR_PROPOSER_CODE_PROMPT_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_CODE_PROMPT_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/proposer/prompt.h"

namespace ksearch {

// The fixed text of code prompts: to change what models are told, edit code_prompt_text.cc.

// "You are ...", with language and target hardware.
std::string CodeRoleText(const PromptFacts& facts);
// What a program may and may not do, in this language.
std::string CodeRulesText(const PromptFacts& facts);
// Rules and entry point as far as a plan depends on them.
std::string PlanningRulesText(const PromptFacts& facts);
// How a call is timed, and what was measured of the device.
std::string MeasuringText(const PromptFacts& facts);
// How the answer must look.
std::string CodeFormatText(const PromptFacts& facts);
// What tends to pay on the target. Never empty.
std::string HardwareHintsText(const PromptFacts& facts);
// The entry point in words, and the header or signature itself.
std::string EntryPointText(const PromptFacts& facts);
// What is asked for this time. `paper`: an improve prompt does not mention the action.
std::string CodeRequestText(const CodePromptContext& context, bool paper);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_CODE_PROMPT_TEXT_H_

#ifndef KSEARCH_COORDINATOR_PROPOSER_WORLD_MODEL_PROMPT_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_WORLD_MODEL_PROMPT_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/proposer/prompt.h"

namespace ksearch {

// The fixed text of world-model prompts: to change what models are told, edit
// world_model_prompt_text.cc.

// "You keep the world model ...", with language and target hardware.
std::string WorldModelRoleText(const PromptFacts& facts);
// Defines the tree, and says how to judge a node.
absl::string_view TreeRulesText();
// The JSON of an initial model with an example, and the JSON of an edit script.
std::string InitialModelShapeText();
std::string EditShapeText(bool paper);
// Questions to consider before the first model is written.
absl::string_view AnalysisText();
// Questions to consider in a revision.
absl::string_view ReflectionText();
// The request itself.
std::string WorldModelRequestText(const WorldModelPromptContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_WORLD_MODEL_PROMPT_TEXT_H_

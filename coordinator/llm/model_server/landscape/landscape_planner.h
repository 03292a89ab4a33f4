#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PLANNER_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PLANNER_H_

#include <string>

#include "common/rng.h"
#include "coordinator/llm/model_server/landscape/landscape.h"
#include "coordinator/llm/model_server/landscape/landscape_knowledge.h"
#include "coordinator/llm/model_server/landscape/landscape_prompt.h"

namespace ksearch {

// Writes the planner's reply: JSON for the first world model, or an edit script. The planner knows
// of the tree only what the prompt shows, records the choices of a solved node's program in the
// node's notes, and scores an intent by the believed gain of its change from the best program.
std::string WritePlan(const Landscape& landscape, const LandscapeKnowledge& knowledge,
                      const LandscapePrompt& prompt, Rng* rng);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PLANNER_H_

#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PLANNER_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PLANNER_H_

#include <string>

#include "common/rng.h"
#include "coordinator/llm/model_server/landscape/landscape.h"
#include "coordinator/llm/model_server/landscape/landscape_knowledge.h"
#include "coordinator/llm/model_server/landscape/landscape_prompt.h"

namespace ksearch {

// The planner's replies: JSON for the first world model or an edit script. It knows of the tree
// what the prompt shows, keeps in the notes of a solved node what its program chooses, and scores
// an intent by what it believes of the change, seen from the best program.
std::string WritePlan(const Landscape& landscape, const LandscapeKnowledge& knowledge,
                      const LandscapePrompt& prompt, Rng* rng);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PLANNER_H_

#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PLAYER_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PLAYER_H_

#include <string>

#include "absl/time/time.h"
#include "common/rng.h"
#include "coordinator/llm/model_server/landscape/landscape.h"
#include "coordinator/llm/model_server/landscape/landscape_knowledge.h"
#include "coordinator/llm/model_server/landscape/landscape_prompt.h"

namespace ksearch {

// Plays a model that knows a part of a landscape: as the one who writes programs, as the planner
// who keeps the world model, and for anything else it is asked. Immutable; answers are a pure
// function of the question, so that a call sent again after a crash is answered as before.
class LandscapePlayer {
 public:
  struct Question {
    std::string call_id;  // the same in every life of a call; calls with different ids differ
    std::string system;
    std::string user;
  };
  struct Reply {
    std::string text;
    absl::Duration delay;
  };

  explicit LandscapePlayer(Landscape landscape) : landscape_(std::move(landscape)) {}
  LandscapePlayer(const LandscapePlayer&) = delete;
  LandscapePlayer& operator=(const LandscapePlayer&) = delete;

  Reply Answer(const Question& question) const;

  const Landscape& landscape() const { return landscape_; }

 private:
  std::string WriteProgram(const LandscapePrompt& prompt, Rng* rng) const;
  std::string WriteVerdict(const LandscapePrompt& prompt, Rng* rng) const;
  std::string WriteWords(const LandscapePrompt& prompt, Rng* rng) const;

  // What is known when `prompt` is read.
  LandscapeKnowledge KnowledgeOf(const LandscapePrompt& prompt) const;

  const Landscape landscape_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PLAYER_H_

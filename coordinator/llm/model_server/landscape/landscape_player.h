#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PLAYER_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PLAYER_H_

#include <string>

#include "absl/time/time.h"
#include "common/rng.h"
#include "coordinator/llm/model_server/landscape/landscape.h"
#include "coordinator/llm/model_server/landscape/landscape_knowledge.h"
#include "coordinator/llm/model_server/landscape/landscape_prompt.h"

namespace ksearch {

// Simulates a model that knows a part of a landscape, in all of its roles: writing programs,
// planning the world model, and everything else. Immutable; an answer is a pure function of the
// question, so that a call that is repeated after a crash gets the same answer.
class LandscapePlayer {
 public:
  struct Question {
    std::string call_id;  // the same across restarts; differs between calls
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

  // The model's knowledge after reading `prompt`.
  LandscapeKnowledge KnowledgeOf(const LandscapePrompt& prompt) const;

  const Landscape landscape_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PLAYER_H_

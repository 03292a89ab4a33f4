#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_REPLIES_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_REPLIES_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "coordinator/llm/model_server/landscape/landscape_player.h"
#include "coordinator/llm/model_server/reply_source.h"

namespace ksearch {

// Serves a LandscapePlayer as a ChatEndpoint. Calls are distinguished by their header
// X-Ksearch-Call (label_headers of the provider); without it, equal prompts get equal replies.
// Thread-safe.
class LandscapeReplies final : public ReplySource {
 public:
  // `delay` of every reply; replaces the landscape's.
  LandscapeReplies(Landscape landscape, std::optional<absl::Duration> delay);

  const std::string& model() const override { return player_.landscape().spec().model(); }
  EndpointResponse Reply(const ChatQuestion& question) override;

 private:
  const LandscapePlayer player_;
  const std::optional<absl::Duration> delay_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_REPLIES_H_

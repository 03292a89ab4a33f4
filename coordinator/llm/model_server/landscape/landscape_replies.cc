#include "coordinator/llm/model_server/landscape/landscape_replies.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest.h"

namespace ksearch {

LandscapeReplies::LandscapeReplies(Landscape landscape, std::optional<absl::Duration> delay)
    : player_(std::move(landscape)), delay_(delay) {}

EndpointResponse LandscapeReplies::Reply(const ChatQuestion& question) {
  const LandscapePlayer::Reply reply =
      player_.Answer({question.Header("x-ksearch-call"), question.system, question.user});
  EndpointResponse response =
      CompletionResponse({.id = absl::StrCat("landscape-", Sha256Hex(reply.text).substr(0, 16)),
                          .model = model(),
                          .text = reply.text,
                          .usage = std::nullopt},
                         question);
  response.delay = delay_.value_or(reply.delay);
  return response;
}

}  // namespace ksearch

#include "coordinator/llm/model_server/reply_source.h"

#include <utility>

#include "nlohmann/json.hpp"

namespace ksearch {
namespace {

using Json = nlohmann::json;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string ChatQuestion::Header(const char* name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

EndpointResponse CompletionResponse(const ChatCompletion& completion,
                                    const ChatQuestion& question) {
  // About four bytes a token in English text and code.
  const int64_t input =
      completion.usage ? completion.usage->input_tokens() : question.prompt_bytes / 4 + 1;
  const int64_t output =
      completion.usage ? completion.usage->output_tokens() : completion.text.size() / 4 + 1;
  Json message = {{"role", "assistant"}, {"content", completion.text}, {"refusal", nullptr}};
  Json choice = {
      {"index", 0}, {"finish_reason", completion.finish_reason}, {"message", std::move(message)}};
  Json usage = {
      {"prompt_tokens", input}, {"completion_tokens", output}, {"total_tokens", input + output}};
  const Json reply = {{"id", completion.id},
                      {"object", "chat.completion"},
                      {"created", 0},
                      {"model", completion.model},
                      {"choices", Json::array({std::move(choice)})},
                      {"usage", std::move(usage)}};
  return {.status = 200, .headers = {}, .body = Dump(reply), .delay = {}};
}

EndpointResponse ErrorResponse(int status, const std::string& message, const std::string& code) {
  const Json error = {
      {"message", message}, {"type", "invalid_request_error"}, {"param", nullptr}, {"code", code}};
  const Json body = {{"error", error}};
  return {.status = status, .headers = {}, .body = Dump(body), .delay = {}};
}

}  // namespace ksearch

#include "coordinator/llm/model_server/chat_endpoint.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "coordinator/llm/model_server/embeddings_answer.h"
#include "nlohmann/json.hpp"

namespace ksearch {
namespace {

using Json = nlohmann::json;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The messages of a chat request. INVALID_ARGUMENT: it is not a chat request.
absl::StatusOr<ChatQuestion> QuestionOf(const EndpointRequest& request) {
  const Json body = Json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object()) return absl::InvalidArgumentError("the body is not a JSON object");
  const auto messages = body.find("messages");
  if (messages == body.end() || !messages->is_array() || messages->empty()) {
    return absl::InvalidArgumentError("the body has no \"messages\"");
  }
  ChatQuestion question;
  question.headers = request.headers;
  for (const Json& message : *messages) {
    const auto content = message.is_object() ? message.find("content") : message.end();
    if (!message.is_object() || content == message.end() || !content->is_string()) {
      return absl::InvalidArgumentError("a message has no \"content\" string");
    }
    const auto role = message.find("role");
    const bool rules = role != message.end() && (*role == "system" || *role == "developer");
    std::string& part = rules ? question.system : question.user;
    if (!part.empty()) part += "\n\n";
    part += content->get_ref<const std::string&>();
  }
  const bool both = !question.system.empty() && !question.user.empty();
  question.prompt_bytes = question.system.size() + question.user.size() + (both ? 2 : 0);
  return question;
}

}  // namespace

ChatEndpoint::ChatEndpoint(std::unique_ptr<ReplySource> source) : source_(std::move(source)) {}

EndpointResponse ChatEndpoint::Answer(const EndpointRequest& request) {
  const std::string path(request.target.substr(0, request.target.find('?')));
  if (path == "/v1/chat/completions") {
    if (request.method != "POST") {
      return ErrorResponse(405, absl::StrCat(path, " takes POST"), "method_not_allowed");
    }
    const absl::StatusOr<ChatQuestion> question = QuestionOf(request);
    if (question.ok()) return source_->Reply(*question);
    return ErrorResponse(400, std::string(question.status().message()), "bad_request");
  }
  if (path == "/v1/embeddings") {
    if (request.method != "POST") {
      return ErrorResponse(405, absl::StrCat(path, " takes POST"), "method_not_allowed");
    }
    ChatQuestion question;
    question.headers = request.headers;
    if (auto fault = source_->EmbeddingFault(question)) return *std::move(fault);
    return EmbeddingsAnswer(request.body);
  }
  if (request.method == "GET" && path == "/v1/models") {
    const Json model = {
        {"id", source_->model()}, {"object", "model"}, {"created", 0}, {"owned_by", "ksearch"}};
    const Json list = {{"object", "list"}, {"data", Json::array({model})}};
    return {.status = 200, .headers = {}, .body = Dump(list), .delay = {}};
  }
  if (request.method == "GET" && path == "/health") {
    return {.status = 200, .headers = {}, .body = "{\"status\":\"ok\"}", .delay = {}};
  }
  return ErrorResponse(
      404,
      absl::StrCat("no such address: ", request.method, " ", path,
                   "; this server has POST /v1/chat/completions, POST /v1/embeddings and GET "
                   "/v1/models"),
      "not_found");
}

}  // namespace ksearch

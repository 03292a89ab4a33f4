#include "coordinator/llm/model_server/embeddings_answer.h"

#include <string>
#include <utility>
#include <vector>

#include "coordinator/llm/model_server/text_embedding.h"
#include "nlohmann/json.hpp"

namespace ksearch {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostTexts = 2048;  // the limit of OpenAI's endpoint

}  // namespace

EndpointResponse EmbeddingsAnswer(absl::string_view body) {
  const auto refuse = [](const char* why) { return ErrorResponse(400, why, "bad_request"); };
  const Json asked = Json::parse(body.begin(), body.end(), nullptr, /*allow_exceptions=*/false);
  if (!asked.is_object()) return refuse("the body is not a JSON object");
  std::vector<std::string> texts;
  const Json input = asked.value("input", Json());
  const Json list = input.is_string() ? Json::array({input}) : input;
  if (!list.is_array() || list.empty() || list.size() > kMostTexts) {
    return refuse("\"input\" is neither a string nor an array of 1 to 2048 strings");
  }
  for (const Json& text : list) {
    if (!text.is_string()) return refuse("\"input\" has an element that is not a string");
    texts.push_back(text.get<std::string>());
  }
  const Json format = asked.value("encoding_format", Json("float"));
  if (format != "float" && format != "base64") {
    return refuse("\"encoding_format\" is neither \"float\" nor \"base64\"");
  }
  Json entries = Json::array();
  size_t bytes = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    bytes += texts[i].size();
    const Embedding embedding = EmbeddingOfText(texts[i]);
    entries.push_back(
        {{"object", "embedding"},
         {"index", i},
         {"embedding", format == "base64" ? Json(EncodeEmbedding(embedding)) : Json(embedding)}});
  }
  const size_t tokens = bytes / 4 + 1;
  const Json model = asked.value("model", Json());
  const Json answer = {{"object", "list"},
                       {"data", std::move(entries)},
                       {"model", model.is_string() ? model : Json("embeddings")},
                       {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}};
  return {.status = 200,
          .headers = {},
          .body = answer.dump(-1, ' ', false, Json::error_handler_t::replace),
          .delay = {}};
}

}  // namespace ksearch

#include "coordinator/llm/model_server/chat_endpoint.h"

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/log.h"
#include "nlohmann/json.hpp"

namespace ksearch {
namespace {

using Json = nlohmann::json;

constexpr size_t kNearestShown = 5;
constexpr size_t kRecordedPromptBytes = 8000;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

EndpointResponse Error(int status, const std::string& message, const std::string& code) {
  const Json error = {
      {"message", message}, {"type", "invalid_request_error"}, {"param", nullptr}, {"code", code}};
  const Json body = {{"error", error}};
  return {.status = status, .headers = {}, .body = Dump(body), .delay = {}};
}

std::string Header(const EndpointRequest& request, const char* name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? "" : found->second;
}

// The labels in the headers, or the reason why there are none.
absl::StatusOr<CassetteKey> KeyOf(const EndpointRequest& request) {
  CassetteKey key;
  key.purpose = Header(request, "x-ksearch-purpose");
  key.node = Header(request, "x-ksearch-node");
  if (key.purpose.empty()) {
    return absl::InvalidArgumentError(
        "the request has no X-Ksearch-Purpose header; set label_headers: true in the provider's "
        "openai_chat settings");
  }
  const std::pair<const char*, int*> numbers[] = {{"x-ksearch-attempt", &key.attempt},
                                                  {"x-ksearch-cycle", &key.cycle}};
  for (const auto& [name, value] : numbers) {
    const std::string text = Header(request, name);
    if (!text.empty() && (!absl::SimpleAtoi(text, value) || *value < 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("header ", name, " is \"", text, "\", not a number from 0"));
    }
  }
  return key;
}

// The messages of a chat request, joined. INVALID_ARGUMENT if it is none.
absl::StatusOr<std::string> PromptOf(const std::string& body) {
  const Json request = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!request.is_object()) return absl::InvalidArgumentError("the body is not a JSON object");
  const auto messages = request.find("messages");
  if (messages == request.end() || !messages->is_array() || messages->empty()) {
    return absl::InvalidArgumentError("the body has no \"messages\"");
  }
  std::vector<std::string> texts;
  for (const Json& message : *messages) {
    const auto content = message.is_object() ? message.find("content") : message.end();
    if (!message.is_object() || content == message.end() || !content->is_string()) {
      return absl::InvalidArgumentError("a message has no \"content\" string");
    }
    texts.push_back(content->get<std::string>());
  }
  return absl::StrJoin(texts, "\n\n");
}

std::string ReplyJson(const Cassette::Entry& entry, const std::string& model,
                      const std::string& prompt) {
  // About four bytes a token in English text and code.
  const int64_t input = entry.usage ? entry.usage->input_tokens() : prompt.size() / 4 + 1;
  const int64_t output = entry.usage ? entry.usage->output_tokens() : entry.text.size() / 4 + 1;
  Json message = {{"role", "assistant"}, {"content", entry.text}, {"refusal", nullptr}};
  Json choice = {
      {"index", 0}, {"finish_reason", entry.finish_reason}, {"message", std::move(message)}};
  Json usage = {
      {"prompt_tokens", input}, {"completion_tokens", output}, {"total_tokens", input + output}};
  Json reply = {{"id", absl::StrCat("cassette-line-", entry.line)},
                {"object", "chat.completion"},
                {"created", 0},
                {"model", model},
                {"choices", Json::array({std::move(choice)})},
                {"usage", std::move(usage)}};
  return Dump(reply);
}

EndpointResponse FaultResponse(const v1::CassetteFault& fault) {
  EndpointResponse response =
      Error(fault.http_status(), "scripted fault", absl::StrCat("http_", fault.http_status()));
  if (!fault.body().empty()) response.body = fault.body();
  if (fault.has_retry_after()) {
    const int64_t ms = fault.retry_after().seconds() * 1000 + fault.retry_after().nanos() / 1000000;
    response.headers["retry-after-ms"] = absl::StrCat(ms);
  }
  return response;
}

}  // namespace

ChatEndpoint::ChatEndpoint(Cassette cassette, ChatEndpointOptions options)
    : cassette_(std::move(cassette)), options_(std::move(options)) {}

EndpointResponse ChatEndpoint::Answer(const EndpointRequest& request) {
  const std::string path(request.target.substr(0, request.target.find('?')));
  if (path == "/v1/chat/completions") {
    if (request.method == "POST") return Complete(request);
    return Error(405, absl::StrCat(path, " takes POST"), "method_not_allowed");
  }
  if (request.method == "GET" && path == "/v1/models") {
    const Json model = {
        {"id", cassette_.model()}, {"object", "model"}, {"created", 0}, {"owned_by", "cassette"}};
    const Json list = {{"object", "list"}, {"data", Json::array({model})}};
    return {.status = 200, .headers = {}, .body = Dump(list), .delay = {}};
  }
  if (request.method == "GET" && path == "/health") {
    return {.status = 200, .headers = {}, .body = "{\"status\":\"ok\"}", .delay = {}};
  }
  return Error(404,
               absl::StrCat("no such address: ", request.method, " ", path,
                            "; this server has POST /v1/chat/completions and GET /v1/models"),
               "not_found");
}

EndpointResponse ChatEndpoint::Complete(const EndpointRequest& request) {
  const absl::StatusOr<std::string> prompt = PromptOf(request.body);
  if (!prompt.ok()) return Error(400, std::string(prompt.status().message()), "bad_request");
  const absl::StatusOr<CassetteKey> key = KeyOf(request);
  if (!key.ok()) return Error(404, std::string(key.status().message()), "no_labels");
  const Cassette::Entry* const entry = cassette_.Find(*key);
  if (entry == nullptr) return Miss(*key, *prompt);
  if (TakeFault(*entry)) return FaultResponse(*entry->fault);
  return {.status = 200,
          .headers = {},
          .body = ReplyJson(*entry, cassette_.model(), *prompt),
          .delay = options_.delay.value_or(entry->delay)};
}

EndpointResponse ChatEndpoint::Miss(const CassetteKey& key, const std::string& prompt) {
  LOG(WARNING) << "msg=\"no entry\" key='" << key.ToString() << "'";
  RecordMiss(key, prompt);
  return Error(404,
               absl::StrCat("the cassette has no entry for ", key.ToString(), "; nearest: ",
                            absl::StrJoin(cassette_.Nearest(key, kNearestShown), ", ")),
               "no_cassette_entry");
}

bool ChatEndpoint::TakeFault(const Cassette::Entry& entry) {
  if (!entry.fault) return false;
  if (entry.fault->times() == 0) return true;
  MutexLock lock(&mu_);
  int& played = faults_played_[&entry];
  if (played >= entry.fault->times()) return false;
  ++played;
  return true;
}

void ChatEndpoint::RecordMiss(const CassetteKey& key, const std::string& prompt) {
  if (options_.record_misses_path.empty()) return;
  MutexLock lock(&mu_);
  if (!recorded_.insert(key.ToString()).second) return;
  std::string text = absl::StrCat("# Prompt, ", prompt.size(), " bytes:\n");
  for (absl::string_view line :
       absl::StrSplit(absl::string_view(prompt).substr(0, kRecordedPromptBytes), '\n')) {
    absl::StrAppend(&text, "#   ", line, "\n");
  }
  absl::StrAppend(&text, "entries {\n  purpose: \"", absl::CEscape(key.purpose), "\"\n");
  if (!key.node.empty()) absl::StrAppend(&text, "  node: \"", absl::CEscape(key.node), "\"\n");
  if (key.attempt != 0) absl::StrAppend(&text, "  attempt: ", key.attempt, "\n");
  if (key.cycle != 0) absl::StrAppend(&text, "  cycle: ", key.cycle, "\n");
  absl::StrAppend(&text, "  text: \"\"\n}\n\n");
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(options_.record_misses_path.c_str(), "ae"), &std::fclose);
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) {
    LOG(ERROR) << "msg=\"cannot record a miss\" file=" << options_.record_misses_path;
  }
}

}  // namespace ksearch

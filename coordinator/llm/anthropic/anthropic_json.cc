#include "coordinator/llm/anthropic/anthropic_json.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/llm/http/sse_parser.h"
#include "coordinator/llm/provider/json_fields.h"

namespace ksearch {
namespace {

// What the events so far add up to.
struct Message {
  LlmReply reply;
  std::string stop_reason;
  std::string refusal;
  // Totals of which a part has a name of its own.
  int64_t cache_write_tokens = 0;
  int64_t output_tokens = 0;
};

// Counts are totals up to their event; one that is absent or null stays as it was.
void ReadUsage(const Json& usage, Message* message) {
  if (!usage.is_object()) return;
  message->reply.usage_reported = true;
  const auto update = [](const Json& counts, const char* name, int64_t* count) {
    if (const Json& value = Member(counts, name); value.is_number()) *count = Count(value);
  };
  TokenUsage& parts = message->reply.usage;
  update(usage, "input_tokens", &parts.uncached_input);
  update(usage, "cache_read_input_tokens", &parts.cache_read);
  update(usage, "cache_creation_input_tokens", &message->cache_write_tokens);
  update(Member(usage, "cache_creation"), "ephemeral_1h_input_tokens", &parts.cache_write_1h);
  update(usage, "output_tokens", &message->output_tokens);
  update(Member(usage, "output_tokens_details"), "thinking_tokens", &parts.reasoning_output);
}

// "<explanation> (<category>)" of a refusal.
std::string Refusal(const Json& stop_details) {
  std::string refusal = Text(Member(stop_details, "explanation"));
  const std::string category = Text(Member(stop_details, "category"));
  if (!category.empty()) absl::StrAppend(&refusal, refusal.empty() ? "(" : " (", category, ")");
  return refusal;
}

// Events of types unknown to us carry nothing that we want: the API promises to add some.
void ReadEvent(const Json& event, Message* message) {
  const std::string type = Text(Member(event, "type"));
  if (type == "message_start") {
    const Json& start = Member(event, "message");
    message->reply.model = Text(Member(start, "model"));
    message->reply.response_id = Text(Member(start, "id"));
    ReadUsage(Member(start, "usage"), message);
  } else if (type == "content_block_start") {
    const Json& block = Member(event, "content_block");
    if (Text(Member(block, "type")) == "text") {
      absl::StrAppend(&message->reply.text, Text(Member(block, "text")));
    }
  } else if (type == "content_block_delta") {
    const Json& delta = Member(event, "delta");
    if (Text(Member(delta, "type")) == "text_delta") {
      absl::StrAppend(&message->reply.text, Text(Member(delta, "text")));
    }
  } else if (type == "message_delta") {
    const Json& delta = Member(event, "delta");
    if (const std::string reason = Text(Member(delta, "stop_reason")); !reason.empty()) {
      message->stop_reason = reason;
      message->refusal = Refusal(Member(delta, "stop_details"));
    }
    ReadUsage(Member(event, "usage"), message);
  }
}

// LlmReply's names; "refusal" and what has no name there stay as they are.
std::string FinishReason(const std::string& stop_reason) {
  if (stop_reason == "end_turn" || stop_reason == "stop_sequence") return "stop";
  // Either way the reply is cut off.
  if (stop_reason == "max_tokens" || stop_reason == "model_context_window_exceeded") {
    return "length";
  }
  return stop_reason;
}

ProviderError ReadError(const Json& inner) {
  ProviderError error;
  error.message = inner.is_string() ? Text(inner) : Text(Member(inner, "message"));
  error.type = Text(Member(inner, "type"));
  error.code = Text(Member(Member(inner, "details"), "error_code"));
  if (error.code.empty() && error.type == "invalid_request_error") {
    const std::string said = absl::AsciiStrToLower(error.message);
    if (absl::StartsWith(said, "prompt is too long")) {
      error.code = "context_length_exceeded";
    } else if (absl::StartsWith(said, "your credit balance is too low")) {
      error.code = "credit_balance_exhausted";
    } else if (absl::StartsWith(said, "you have reached your specified api usage limits")) {
      error.code = "usage_limit_reached";
    }
  }
  return WithinLimits(std::move(error));
}

}  // namespace

std::string AnthropicRequestJson(const LlmRequest& request) {
  Json body = {{"model", request.model},
               {"max_tokens", request.max_output_tokens},
               {"stream", true},
               {"messages", Json::array({{{"role", "user"}, {"content", request.user}}})}};
  if (!request.system.empty()) {
    body["system"] = Json::array(
        {{{"type", "text"}, {"text", request.system}, {"cache_control", {{"type", "ephemeral"}}}}});
  }
  if (!request.reasoning_effort.empty()) {
    body["thinking"] = {{"type", "adaptive"}};
    body["output_config"] = {{"effort", request.reasoning_effort}};
  }
  return DumpJson(body);
}

std::optional<ProviderError> ParseAnthropicError(absl::string_view body) {
  const Json parsed = ParseJson(body);
  const Json& inner = Member(parsed, "error");
  if (!inner.is_object() && !inner.is_string()) return std::nullopt;
  return ReadError(inner);
}

absl::StatusOr<AnthropicOutcome> ParseAnthropicStream(absl::string_view body) {
  std::vector<SseEvent> events;
  // The body's own size is limited already; a proxy may have merged events up to that size.
  SseParser parser(body.size() + 1);
  RETURN_IF_ERROR(parser.Push(body, &events));
  if (events.empty()) {
    if (std::optional<ProviderError> error = ParseAnthropicError(body)) {
      return AnthropicOutcome{.reply = {}, .error = std::move(error)};
    }
    return absl::DataLossError(absl::StrCat("the reply is not an event stream (", body.size(),
                                            " bytes); is base_url right?"));
  }
  Message message;
  for (const SseEvent& event : events) {
    const Json parsed = ParseJson(event.data);
    if (event.name == "error" || Text(Member(parsed, "type")) == "error") {
      const Json& inner = Member(parsed, "error");
      return AnthropicOutcome{.reply = {}, .error = ReadError(inner.is_null() ? parsed : inner)};
    }
    if (parsed.is_discarded()) {
      return absl::DataLossError("an event of the reply's stream is not JSON");
    }
    ReadEvent(parsed, &message);
  }
  if (message.stop_reason.empty()) {
    return absl::DataLossError(
        "the reply's stream breaks off: no event says why the model stopped");
  }
  LlmReply reply = std::move(message.reply);
  reply.finish_reason = FinishReason(message.stop_reason);
  TakePart(reply.usage.cache_write_1h, &message.cache_write_tokens, &reply.usage);
  reply.usage.cache_write_5m = message.cache_write_tokens;
  TakePart(reply.usage.reasoning_output, &message.output_tokens, &reply.usage);
  reply.usage.visible_output = message.output_tokens;
  if (reply.finish_reason == "refusal" && !message.refusal.empty()) reply.text = message.refusal;
  if (reply.finish_reason == "stop" && absl::StripAsciiWhitespace(reply.text).empty()) {
    return absl::DataLossError("empty reply: the model stopped without any text");
  }
  return AnthropicOutcome{.reply = std::move(reply), .error = std::nullopt};
}

}  // namespace ksearch

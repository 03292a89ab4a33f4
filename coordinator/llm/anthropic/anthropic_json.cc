#include "coordinator/llm/anthropic/anthropic_json.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/llm/provider/json_fields.h"

namespace ksearch {
namespace {

// A refusal as "<explanation> (<category>)".
std::string Refusal(const Json& stop_details) {
  std::string refusal = Text(Member(stop_details, "explanation"));
  const std::string category = Text(Member(stop_details, "category"));
  if (!category.empty()) absl::StrAppend(&refusal, refusal.empty() ? "(" : " (", category, ")");
  return refusal;
}

// The reason under LlmReply's name; "refusal" and reasons without a name stay as they are.
std::string FinishReason(const std::string& stop_reason) {
  if (stop_reason == "end_turn" || stop_reason == "stop_sequence") return "stop";
  if (stop_reason == "max_tokens") return "length";
  if (stop_reason == "model_context_window_exceeded") return "context_overflow";
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

std::string AnthropicRequestJson(const LlmRequest& request, absl::string_view cache_ttl,
                                 absl::string_view extra_body) {
  Json body = {{"model", request.model},
               {"max_tokens", request.max_output_tokens},
               {"stream", true},
               {"messages", Json::array({{{"role", "user"}, {"content", request.user}}})}};
  if (!request.system.empty()) {
    Json cache_control = {{"type", "ephemeral"}};
    if (!cache_ttl.empty()) cache_control["ttl"] = std::string(cache_ttl);
    body["system"] = Json::array(
        {{{"type", "text"}, {"text", request.system}, {"cache_control", cache_control}}});
  }
  if (!request.reasoning_effort.empty()) {
    body["thinking"] = {{"type", "adaptive"}};
    body["output_config"] = {{"effort", request.reasoning_effort}};
  }
  AddExtraBody(extra_body, &body);
  return DumpJson(body);
}

std::optional<ProviderError> ParseAnthropicError(absl::string_view body) {
  const Json parsed = ParseJson(body);
  const Json& inner = Member(parsed, "error");
  if (!inner.is_object() && !inner.is_string()) return std::nullopt;
  return ReadError(inner);
}

struct AnthropicEvents {
  // Counts are totals up to their event; absent or null counts stay as they were.
  static void ReadUsage(const Json& usage, AnthropicReader* reader) {
    if (!usage.is_object()) return;
    reader->reply_.usage_reported = true;
    const auto update = [](const Json& counts, const char* name, int64_t* count) {
      if (const Json& value = Member(counts, name); value.is_number()) *count = Count(value);
    };
    TokenUsage& parts = reader->reply_.usage;
    update(usage, "input_tokens", &parts.uncached_input);
    update(usage, "cache_read_input_tokens", &parts.cache_read);
    update(usage, "cache_creation_input_tokens", &reader->cache_write_tokens_);
    update(Member(usage, "cache_creation"), "ephemeral_1h_input_tokens", &parts.cache_write_1h);
    update(usage, "output_tokens", &reader->output_tokens_);
    update(Member(usage, "output_tokens_details"), "thinking_tokens", &parts.reasoning_output);
  }

  static void ReadStart(const Json& message, AnthropicReader* reader) {
    reader->reply_.model = Text(Member(message, "model"));
    reader->reply_.response_id = Text(Member(message, "id"));
    ReadUsage(Member(message, "usage"), reader);
  }

  static void ReadText(const Json& block, const char* type, AnthropicReader* reader) {
    if (Text(Member(block, "type")) != type) return;
    absl::StrAppend(&reader->reply_.text, Text(Member(block, "text")));
  }

  static void ReadEnd(const Json& delta, AnthropicReader* reader) {
    const std::string reason = Text(Member(delta, "stop_reason"));
    if (reason.empty()) return;
    reader->stop_reason_ = reason;
    reader->refusal_ = Refusal(Member(delta, "stop_details"));
  }

  // Ignores events of unknown types: the API documents that it may add some.
  static void Read(const Json& event, AnthropicReader* reader) {
    const std::string type = Text(Member(event, "type"));
    if (type == "message_start") {
      ReadStart(Member(event, "message"), reader);
    } else if (type == "content_block_start") {
      ReadText(Member(event, "content_block"), "text", reader);
    } else if (type == "content_block_delta") {
      ReadText(Member(event, "delta"), "text_delta", reader);
    } else if (type == "message_delta") {
      ReadEnd(Member(event, "delta"), reader);
      ReadUsage(Member(event, "usage"), reader);
    }
  }
};

std::optional<ProviderError> AnthropicReader::ParseError(absl::string_view body) const {
  return ParseAnthropicError(body);
}

absl::Status AnthropicReader::OnEvent(const SseEvent& event) {
  if (error_) return absl::OkStatus();
  const Json parsed = ParseJson(event.data);
  if (event.name == "error" || Text(Member(parsed, "type")) == "error") {
    const Json& inner = Member(parsed, "error");
    error_ = ReadError(inner.is_null() ? parsed : inner);
    return absl::OkStatus();
  }
  if (parsed.is_discarded()) {
    return absl::DataLossError("an event of the reply's stream is not JSON");
  }
  AnthropicEvents::Read(parsed, this);
  return absl::OkStatus();
}

absl::StatusOr<ReplyOutcome> AnthropicReader::EndOfStream() {
  if (error_) return ReplyOutcome{.reply = {}, .error = error_};
  if (stop_reason_.empty()) {
    return absl::DataLossError(
        "the reply's stream breaks off: no event says why the model stopped");
  }
  LlmReply reply = std::move(reply_);
  reply.finish_reason = FinishReason(stop_reason_);
  TakePart(reply.usage.cache_write_1h, &cache_write_tokens_, &reply.usage);
  reply.usage.cache_write_5m = cache_write_tokens_;
  TakePart(reply.usage.reasoning_output, &output_tokens_, &reply.usage);
  reply.usage.visible_output = output_tokens_;
  if (reply.finish_reason == "refusal" && !refusal_.empty()) reply.text = refusal_;
  if (reply.finish_reason == "stop" && absl::StripAsciiWhitespace(reply.text).empty()) {
    return absl::DataLossError("empty reply: the model stopped without any text");
  }
  return ReplyOutcome{.reply = std::move(reply), .error = std::nullopt};
}

absl::StatusOr<ReplyOutcome> AnthropicReader::ReadWhole(absl::string_view body) {
  const Json message = ParseJson(body);
  const Json& content = Member(message, "content");
  if (!content.is_array()) {
    return absl::DataLossError(absl::StrCat("the reply is neither a message nor an event stream (",
                                            body.size(), " bytes); is base_url right?"));
  }
  AnthropicEvents::ReadStart(message, this);
  for (const Json& block : content) AnthropicEvents::ReadText(block, "text", this);
  AnthropicEvents::ReadEnd(message, this);
  return EndOfStream();
}

}  // namespace ksearch

#include "coordinator/llm/openai/chat_json.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/llm/provider/json_fields.h"

namespace ksearch {
namespace {

// Text of a message: a string, or a list of parts of which those of type "text" count.
std::string ContentText(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (content.is_array()) {
    for (const Json& part : content) {
      if (Text(Member(part, "type")) == "text") absl::StrAppend(&text, Text(Member(part, "text")));
    }
  }
  return text;
}

// Servers without a reasoning parser leave the model's reasoning in front of the answer. If it
// never ends, the reply was cut off while reasoning and has no visible text.
std::string WithoutThoughts(std::string text, bool cut_off) {
  const absl::string_view body = absl::StripLeadingAsciiWhitespace(text);
  if (!absl::StartsWith(body, "<think>")) return text;
  constexpr absl::string_view kEnd = "</think>";
  const size_t end = body.find(kEnd);
  if (end == absl::string_view::npos) return cut_off ? "" : text;
  return std::string(absl::StripLeadingAsciiWhitespace(body.substr(end + kEnd.size())));
}

void ReadGoogleDetails(const Json& details, ProviderError* error) {
  if (!details.is_array()) return;
  for (const Json& detail : details) {
    absl::Duration delay;
    if (absl::ParseDuration(Text(Member(detail, "retryDelay")), &delay) &&
        delay >= absl::ZeroDuration()) {
      error->retry_after = delay;
    }
    const Json& violations = Member(detail, "violations");
    if (!violations.is_array()) continue;
    for (const Json& violation : violations) {
      if (absl::StrContains(Text(Member(violation, "quotaId")), "PerDay")) {
        error->daily_quota = true;
      }
    }
  }
}

TokenUsage ReadChatUsage(const Json& counts) {
  TokenUsage usage;
  int64_t input = Count(Member(counts, "prompt_tokens"));
  const int64_t total = Count(Member(counts, "total_tokens"));
  // Gemini leaves reasoning out of the completion count, but not out of the total.
  int64_t output = std::max(Count(Member(counts, "completion_tokens")), total - input);
  const int64_t unnamed = output - Count(Member(counts, "completion_tokens"));
  const Json& input_parts = Member(counts, "prompt_tokens_details");
  usage.cache_read = TakePart(Count(Member(input_parts, "cached_tokens")), &input, &usage);
  usage.cache_write_5m = TakePart(Count(Member(input_parts, "cache_write_tokens")), &input, &usage);
  usage.uncached_input = input;
  const Json& output_parts = Member(counts, "completion_tokens_details");
  const int64_t reasoning = Count(Member(output_parts, "reasoning_tokens"));
  usage.reasoning_output = TakePart(std::max(reasoning, unnamed), &output, &usage);
  usage.visible_output = output;
  return usage;
}

// Completes a reply, whether it was streamed or not.
absl::StatusOr<LlmReply> Completed(LlmReply reply, const std::string& refusal) {
  if (!refusal.empty()) {
    reply.text = refusal;
    reply.finish_reason = "refusal";
  } else {
    reply.text = WithoutThoughts(std::move(reply.text), reply.finish_reason == "length");
  }
  if (reply.finish_reason == "stop" && absl::StripAsciiWhitespace(reply.text).empty()) {
    return absl::DataLossError("empty reply: the model stopped without any text");
  }
  return reply;
}

void ReadUsage(const Json& usage, LlmReply* reply) {
  if (!usage.is_object()) return;
  reply->usage_reported = true;
  reply->usage = ReadChatUsage(usage);
}

}  // namespace

std::string ChatRequestJson(const LlmRequest& request, const ChatRequestOptions& options) {
  Json messages = Json::array();
  if (!request.system.empty()) {
    messages.push_back({{"role", "system"}, {"content", request.system}});
  }
  messages.push_back({{"role", "user"}, {"content", request.user}});
  Json body = {{"model", request.model}, {"messages", std::move(messages)}};
  body[options.token_limit_field] = request.max_output_tokens;
  if (!request.reasoning_effort.empty()) body["reasoning_effort"] = request.reasoning_effort;
  if (options.stream) {
    body["stream"] = true;
    body["stream_options"] = {{"include_usage", true}};
    if (options.no_obfuscation) body["stream_options"]["include_obfuscation"] = false;
  }
  AddExtraBody(options.extra_body, &body);
  return DumpJson(body);
}

std::optional<ProviderError> ParseChatError(absl::string_view body) {
  const Json parsed = ParseJson(body);
  if (parsed.is_discarded()) return std::nullopt;
  const Json& root = parsed.is_array() && !parsed.empty() ? parsed.front() : parsed;
  const Json& inner = Member(root, "error");
  ProviderError error;
  if (inner.is_object()) {
    error.message = Text(Member(inner, "message"));
    error.code = Text(Member(inner, "code"));
    error.type = Text(Member(inner, "type"));
    error.parameter = Text(Member(inner, "param"));
    // Google's `code` repeats the HTTP status; its `status` is the name.
    if (error.type.empty()) error.type = Text(Member(inner, "status"));
    ReadGoogleDetails(Member(inner, "details"), &error);
  } else if (inner.is_string()) {
    error.message = Text(inner);
  } else if (Text(Member(root, "object")) == "error") {
    error.message = Text(Member(root, "message"));
    error.code = Text(Member(root, "code"));
    error.type = Text(Member(root, "type"));
    error.parameter = Text(Member(root, "param"));
  } else if (const Json& detail = Member(root, "detail"); !detail.is_null()) {
    error.message = detail.is_string() ? Text(detail) : DumpJson(detail);
  } else {
    return std::nullopt;
  }
  return WithinLimits(std::move(error));
}

absl::StatusOr<LlmReply> ParseChatReply(absl::string_view body) {
  const Json parsed = ParseJson(body);
  if (parsed.is_discarded()) {
    return absl::DataLossError(
        absl::StrCat("the reply is not JSON (", body.size(), " bytes); is base_url right?"));
  }
  const Json& choices = Member(parsed, "choices");
  if (!choices.is_array() || choices.empty()) {
    return absl::DataLossError("the reply has no \"choices\"; is base_url right?");
  }
  const Json& choice = choices.front();
  const Json& message = Member(choice, "message");  // absent if thinking used up the tokens

  LlmReply reply;
  reply.model = Text(Member(parsed, "model"));
  reply.response_id = Text(Member(parsed, "id"));
  reply.finish_reason = Text(Member(choice, "finish_reason"));
  if (reply.finish_reason.empty()) reply.finish_reason = "stop";
  reply.text = ContentText(Member(message, "content"));
  ReadUsage(Member(parsed, "usage"), &reply);
  return Completed(std::move(reply), Text(Member(message, "refusal")));
}

std::optional<ProviderError> ChatReader::ParseError(absl::string_view body) const {
  return ParseChatError(body);
}

absl::Status ChatReader::OnEvent(const SseEvent& event) {
  if (error_ || event.data == "[DONE]") return absl::OkStatus();
  const Json chunk = ParseJson(event.data);
  if (chunk.is_discarded()) {
    return absl::DataLossError("a chunk of the reply's stream is not JSON");
  }
  if (std::optional<ProviderError> error = ParseChatError(event.data)) {
    error_ = std::move(error);
    return absl::OkStatus();
  }
  if (reply_.model.empty()) reply_.model = Text(Member(chunk, "model"));
  if (reply_.response_id.empty()) reply_.response_id = Text(Member(chunk, "id"));
  ReadUsage(Member(chunk, "usage"), &reply_);
  const Json& choices = Member(chunk, "choices");
  if (!choices.is_array() || choices.empty()) return absl::OkStatus();
  const Json& delta = Member(choices.front(), "delta");
  absl::StrAppend(&reply_.text, ContentText(Member(delta, "content")));
  absl::StrAppend(&refusal_, Text(Member(delta, "refusal")));
  const std::string reason = Text(Member(choices.front(), "finish_reason"));
  if (!reason.empty()) reply_.finish_reason = reason;
  return absl::OkStatus();
}

absl::StatusOr<ReplyOutcome> ChatReader::EndOfStream() {
  if (error_) return ReplyOutcome{.reply = {}, .error = error_};
  if (reply_.finish_reason.empty()) {
    return absl::DataLossError(
        "the reply's stream breaks off: no chunk says why the model stopped");
  }
  absl::StatusOr<LlmReply> reply = Completed(std::move(reply_), refusal_);
  if (!reply.ok()) return reply.status();
  return ReplyOutcome{.reply = *std::move(reply), .error = std::nullopt};
}

absl::StatusOr<ReplyOutcome> ChatReader::ReadWhole(absl::string_view body) {
  absl::StatusOr<LlmReply> reply = ParseChatReply(body);
  if (!reply.ok()) return reply.status();
  return ReplyOutcome{.reply = *std::move(reply), .error = std::nullopt};
}

}  // namespace ksearch

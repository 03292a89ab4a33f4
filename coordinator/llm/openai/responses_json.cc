#include "coordinator/llm/openai/responses_json.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/llm/openai/chat_json.h"
#include "coordinator/llm/provider/json_fields.h"

namespace ksearch {
namespace {

constexpr int kMinOutputTokens = 16;  // the API refuses less
constexpr size_t kMaxIdBytes = 200;

TokenUsage ReadUsage(const Json& counts) {
  TokenUsage usage;
  int64_t input = Count(Member(counts, "input_tokens"));
  const Json& input_parts = Member(counts, "input_tokens_details");
  usage.cache_read = TakePart(Count(Member(input_parts, "cached_tokens")), &input, &usage);
  usage.cache_write_5m = TakePart(Count(Member(input_parts, "cache_write_tokens")), &input, &usage);
  usage.uncached_input = input;
  int64_t output = Count(Member(counts, "output_tokens"));
  const Json& output_parts = Member(counts, "output_tokens_details");
  usage.reasoning_output =
      TakePart(Count(Member(output_parts, "reasoning_tokens")), &output, &usage);
  usage.visible_output = output;
  return usage;
}

// Items of other types (reasoning, tools) may come before and between.
void ReadOutput(const Json& output, std::string* text, std::string* refusal) {
  if (!output.is_array()) return;
  for (const Json& item : output) {
    const Json& content = Member(item, "content");
    if (Text(Member(item, "type")) != "message" || !content.is_array()) continue;
    for (const Json& part : content) {
      const std::string type = Text(Member(part, "type"));
      if (type == "output_text") absl::StrAppend(text, Text(Member(part, "text")));
      if (type == "refusal") absl::StrAppend(refusal, Text(Member(part, "refusal")));
    }
  }
}

ProviderError ErrorOf(const Json& error) {
  ProviderError found;
  found.message = Text(Member(error, "message"));
  found.code = Text(Member(error, "code"));
  found.type = Text(Member(error, "type"));
  return WithinLimits(std::move(found));
}

// "stop", or why an incomplete response is; "" if the response is neither.
std::string FinishReason(const Json& response, absl::string_view status) {
  if (status == "completed") return "stop";
  if (status != "incomplete") return "";
  const std::string reason = Text(Member(Member(response, "incomplete_details"), "reason"));
  return reason == "max_output_tokens" || reason.empty() ? "length" : reason;
}

absl::StatusOr<ResponsesSnapshot> Read(const Json& response) {
  ResponsesSnapshot snapshot;
  snapshot.id = Text(Member(response, "id"));
  const std::string status = Text(Member(response, "status"));
  if (status.empty()) {
    return absl::DataLossError("the reply is not a response object; is base_url right?");
  }
  if (status == "queued" || status == "in_progress") return snapshot;
  ReplyOutcome outcome;
  LlmReply& reply = outcome.reply;
  reply.finish_reason = FinishReason(response, status);
  if (reply.finish_reason.empty()) {  // failed, cancelled
    outcome.error = ErrorOf(Member(response, "error"));
    if (outcome.error->message.empty()) {
      outcome.error->message = absl::StrCat("the response is ", status);
    }
    snapshot.outcome = std::move(outcome);
    return snapshot;
  }
  reply.response_id = snapshot.id;
  reply.model = Text(Member(response, "model"));
  std::string refusal;
  ReadOutput(Member(response, "output"), &reply.text, &refusal);
  if (!refusal.empty()) {
    reply.text = refusal;
    reply.finish_reason = "refusal";
  }
  if (const Json& usage = Member(response, "usage"); usage.is_object()) {
    reply.usage_reported = true;
    reply.usage = ReadUsage(usage);
  }
  if (reply.finish_reason == "stop" && absl::StripAsciiWhitespace(reply.text).empty()) {
    return absl::DataLossError("empty reply: the model stopped without any text");
  }
  snapshot.outcome = std::move(outcome);
  return snapshot;
}

}  // namespace

std::string ResponsesRequestJson(const LlmRequest& request, bool background,
                                 absl::string_view extra_body) {
  Json body = {{"model", request.model},
               {"input", request.user},
               {"max_output_tokens", std::max(request.max_output_tokens, kMinOutputTokens)},
               {"store", background}};
  if (!request.system.empty()) body["instructions"] = request.system;
  if (!request.reasoning_effort.empty()) {
    body["reasoning"] = {{"effort", request.reasoning_effort}};
  }
  body[background ? "background" : "stream"] = true;
  AddExtraBody(extra_body, &body);
  return DumpJson(body);
}

absl::StatusOr<ResponsesSnapshot> ParseResponse(absl::string_view body) {
  const Json parsed = ParseJson(body);
  if (parsed.is_discarded()) {
    return absl::DataLossError(
        absl::StrCat("the reply is not JSON (", body.size(), " bytes); is base_url right?"));
  }
  return Read(parsed);
}

bool IsResponseId(absl::string_view id) {
  return !id.empty() && id.size() <= kMaxIdBytes && std::all_of(id.begin(), id.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  });
}

std::optional<ProviderError> ResponsesReader::ParseError(absl::string_view body) const {
  return ParseChatError(body);
}

absl::Status ResponsesReader::OnEvent(const SseEvent& event) {
  if (outcome_) return absl::OkStatus();
  if (event.data == "[DONE]") return absl::OkStatus();  // compatible servers send it
  const Json parsed = ParseJson(event.data);
  if (parsed.is_discarded()) {
    return absl::DataLossError("an event of the reply's stream is not JSON");
  }
  const std::string type = Text(Member(parsed, "type"));
  if (type == "error" || event.name == "error") {
    const Json& inner = Member(parsed, "error");
    outcome_ = ReplyOutcome{.reply = {}, .error = ErrorOf(inner.is_object() ? inner : parsed)};
  } else if (type == "response.completed" || type == "response.incomplete" ||
             type == "response.failed") {
    ASSIGN_OR_RETURN(ResponsesSnapshot snapshot, Read(Member(parsed, "response")));
    outcome_ = std::move(snapshot.outcome);
  }
  return absl::OkStatus();
}

absl::StatusOr<ReplyOutcome> ResponsesReader::EndOfStream() {
  if (outcome_) return *std::move(outcome_);
  return absl::DataLossError("the reply's stream breaks off: no event ends the response");
}

absl::StatusOr<ReplyOutcome> ResponsesReader::ReadWhole(absl::string_view body) {
  ASSIGN_OR_RETURN(ResponsesSnapshot snapshot, ParseResponse(body));
  if (snapshot.outcome) return *std::move(snapshot.outcome);
  return absl::DataLossError("the response is still in progress; is it in the background?");
}

}  // namespace ksearch

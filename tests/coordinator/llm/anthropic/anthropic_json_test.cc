#include "coordinator/llm/anthropic/anthropic_json.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Events of a stream, given their JSON.
std::string Event(absl::string_view type, absl::string_view more = "") {
  return absl::StrCat("event: ", type, "\ndata: {\"type\":\"", type, "\"", more, "}\n\n");
}

std::string Start(absl::string_view usage = R"({"input_tokens":3,"output_tokens":1})") {
  return Event("message_start",
               absl::StrCat(R"(,"message":{"id":"msg_1","model":"c-2026","content":[],"usage":)",
                            usage, "}"));
}

std::string Text(absl::string_view text) {
  return absl::StrCat(
      Event("content_block_start", R"(,"index":1,"content_block":{"type":"text","text":""})"),
      Event("content_block_delta",
            absl::StrCat(R"(,"index":1,"delta":{"type":"text_delta","text":")", text, R"("})")),
      Event("content_block_stop", R"(,"index":1)"));
}

std::string End(absl::string_view stop_reason, absl::string_view usage = R"({"output_tokens":9})",
                absl::string_view details = "null") {
  return absl::StrCat(
      Event("message_delta", absl::StrCat(R"(,"delta":{"stop_reason":")", stop_reason,
                                          R"(","stop_details":)", details, R"(},"usage":)", usage)),
      Event("message_stop"));
}

// Pieces of one byte must give the same result.
absl::StatusOr<ReplyOutcome> ParseAnthropicStream(absl::string_view body) {
  AnthropicReader whole;
  absl::StatusOr<ReplyOutcome> outcome = whole.Finish(body);
  AnthropicReader pieces;
  absl::Status pushed = absl::OkStatus();
  for (size_t i = 0; i < body.size() && pushed.ok(); ++i) pushed = pieces.Push(body.substr(i, 1));
  const absl::StatusOr<ReplyOutcome> same = pieces.Finish("");
  if (outcome.ok() && !absl::StartsWith(body, "{")) {
    EXPECT_TRUE(same.ok()) << same.status();
    EXPECT_EQ(same->reply.text, outcome->reply.text);
    EXPECT_EQ(same->reply.usage, outcome->reply.usage);
  }
  return outcome;
}

LlmReply Reply(const std::string& stream) {
  const auto outcome = ParseAnthropicStream(stream);
  EXPECT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_FALSE(outcome->error.has_value());
  return outcome->reply;
}

TEST(AnthropicRequestJsonTest, StreamsAndMarksTheSystemTextForTheCache) {
  LlmRequest request;
  request.model = "c";
  request.system = "rules";
  request.user = "task";
  request.max_output_tokens = 500;
  EXPECT_EQ(AnthropicRequestJson(request),
            R"({"max_tokens":500,"messages":[{"content":"task","role":"user"}],"model":"c",)"
            R"("stream":true,"system":[{"cache_control":{"type":"ephemeral"},"text":"rules",)"
            R"("type":"text"}]})");
}

TEST(AnthropicRequestJsonTest, WhatIsNotAskedForIsNotSent) {
  LlmRequest request;
  request.user = "bad \xff byte";
  EXPECT_THAT(AnthropicRequestJson(request), Not(HasSubstr("system")));
  EXPECT_THAT(AnthropicRequestJson(request), Not(HasSubstr("thinking")));
  EXPECT_THAT(AnthropicRequestJson(request), HasSubstr("bad \xEF\xBF\xBD byte"));
  request.reasoning_effort = "high";
  EXPECT_THAT(AnthropicRequestJson(request), HasSubstr(R"("output_config":{"effort":"high"})"));
  EXPECT_THAT(AnthropicRequestJson(request), HasSubstr(R"("thinking":{"type":"adaptive"})"));
}

TEST(ParseAnthropicStreamTest, OnlyTextBlocksAreText) {
  const LlmReply reply = Reply(absl::StrCat(
      Start(), Event("ping"),
      Event("content_block_start",
            R"(,"index":0,"content_block":{"type":"thinking","thinking":"no","text":"no"})"),
      Event("content_block_delta",
            R"(,"index":0,"delta":{"type":"thinking_delta","thinking":"no","text":"no"})"),
      Event("content_block_delta",
            R"(,"index":0,"delta":{"type":"signature_delta","signature":"no"})"),
      Event("content_block_stop", R"(,"index":0)"), Text("int \xC3\xA9;\\n"),
      Event("a_type_of_tomorrow", R"(,"text":"no")"), Text("int y;"), End("end_turn")));
  EXPECT_EQ(reply.text, "int \xC3\xA9;\nint y;");
  EXPECT_EQ(reply.finish_reason, "stop");
  EXPECT_EQ(reply.model, "c-2026");
  EXPECT_EQ(reply.response_id, "msg_1");
}

TEST(ParseAnthropicStreamTest, StopReasonsHaveTheNamesOfLlmReply) {
  const struct {
    const char* stop_reason;
    const char* finish_reason;
  } cases[] = {{"end_turn", "stop"},     {"stop_sequence", "stop"},
               {"max_tokens", "length"}, {"model_context_window_exceeded", "context_overflow"},
               {"refusal", "refusal"},   {"pause_turn", "pause_turn"}};
  for (const auto& c : cases) {
    const LlmReply reply = Reply(absl::StrCat(Start(), Text("x"), End(c.stop_reason)));
    EXPECT_EQ(reply.finish_reason, c.finish_reason);
    EXPECT_EQ(reply.text, "x");
  }
}

TEST(ParseAnthropicStreamTest, ARefusalExplainsItself) {
  const LlmReply reply = Reply(
      absl::StrCat(Start(), Text("Sure, "),
                   End("refusal", "{}", R"({"category":"frontier_llm","explanation":"No."})")));
  EXPECT_EQ(reply.finish_reason, "refusal");
  EXPECT_EQ(reply.text, "No. (frontier_llm)");
}

TEST(ParseAnthropicStreamTest, InputIsTheSumOfItsPartsAndCountsAreTotals) {
  const std::string start = Start(R"({"input_tokens":700,"cache_creation_input_tokens":50,)"
                                  R"("cache_read_input_tokens":8300,"output_tokens":1})");
  LlmReply reply = Reply(absl::StrCat(start, Text("x"), End("end_turn")));
  EXPECT_TRUE(reply.usage_reported);
  EXPECT_EQ(reply.usage.input(), 9050);
  EXPECT_EQ(reply.usage.output(), 9);
  // A total at the end replaces the one at the start; null does not.
  reply = Reply(absl::StrCat(
      start, Text("x"),
      End("end_turn",
          R"({"input_tokens":701,"cache_read_input_tokens":null,"output_tokens":5200})")));
  EXPECT_EQ(reply.usage.input(), 9051);
  EXPECT_EQ(reply.usage.output(), 5200);
  reply = Reply(absl::StrCat(Start(R"({"input_tokens":-5,"output_tokens":1e99})"), Text("x"),
                             End("end_turn", "null")));
  EXPECT_EQ(reply.usage.input(), 0);
  EXPECT_EQ(reply.usage.output(), 0);
  reply = Reply(absl::StrCat(Start("null"), Text("x"), End("end_turn", "null")));
  EXPECT_FALSE(reply.usage_reported);
}

TEST(ParseAnthropicStreamTest, AnErrorEventEndsTheReply) {
  auto outcome = ParseAnthropicStream(
      absl::StrCat(Start(), Text("half"),
                   Event("error", R"(,"error":{"type":"overloaded_error","message":"Overloaded"})"),
                   End("end_turn")));
  ASSERT_TRUE(outcome.ok() && outcome->error.has_value());
  EXPECT_EQ(outcome->error->type, "overloaded_error");
  EXPECT_EQ(outcome->error->message, "Overloaded");
  // Errors that a gateway may send in place of the original.
  for (const char* body : {"event: error\ndata: gone\n\n", "event: error\ndata: {}\n\n",
                           "data: {\"type\":\"error\"}\n\n", R"({"error":{"message":"no"}})"}) {
    outcome = ParseAnthropicStream(body);
    EXPECT_TRUE(outcome.ok() && outcome->error.has_value()) << body;
  }
}

TEST(ParseAnthropicStreamTest, WhatIsNoWholeReplyIsDataLoss) {
  const struct {
    std::string body;
    const char* message;
  } cases[] = {
      {"", "nor an event stream (0 bytes)"},
      {"<html>\n\nlogin</html>", "is base_url right?"},
      {R"({"content":[]})", "breaks off"},
      {R"({"message":"hello"})", "nor an event stream"},
      {Start() + Text("half"), "breaks off"},
      {Start() + "data: [DONE]\n\ndata: {\n\n", "not JSON"},
      {Start() + End("end_turn"), "empty reply"},
      {Start() + Text(" \\n") + End("stop_sequence"), "empty reply"},
      {"data: 7\n\ndata: []\n\ndata: {\"type\":{}}\n\n", "breaks off"},
      {absl::StrCat("data: ", std::string(100000, '['), "\n\n"), "not JSON"},
  };
  for (const auto& c : cases) {
    const auto outcome = ParseAnthropicStream(c.body);
    EXPECT_EQ(outcome.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(outcome.status().message()), HasSubstr(c.message));
  }
}

TEST(ParseAnthropicErrorTest, ReadsTypesAndNamesWhatIsToldByWords) {
  const auto code = [](absl::string_view type, absl::string_view message,
                       absl::string_view more = "") {
    const auto error = ParseAnthropicError(absl::StrCat(R"({"type":"error","error":{"type":")",
                                                        type, R"(","message":")", message, R"(")",
                                                        more, R"(},"request_id":"req_1"})"));
    EXPECT_EQ(error.value().type, type);
    EXPECT_EQ(error.value().message, message);
    return error.value().code;
  };
  EXPECT_EQ(code("rate_limit_error", "slow down"), "");
  EXPECT_EQ(code("invalid_request_error", "max_tokens: too large"), "");
  EXPECT_EQ(code("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            "context_length_exceeded");
  EXPECT_EQ(code("invalid_request_error", "Your credit balance is too low to access the API."),
            "credit_balance_exhausted");
  EXPECT_EQ(code("invalid_request_error", "You have reached your specified API usage limits."),
            "usage_limit_reached");
  EXPECT_EQ(
      code("rate_limit_error", "m", R"(,"details":{"error_code":"enforced_spend_limit_reached"})"),
      "enforced_spend_limit_reached");
  for (const char* none : {"", "busy", "[]", "{}", R"({"error":null})", R"({"error":7})"}) {
    EXPECT_FALSE(ParseAnthropicError(none).has_value()) << none;
  }
}

}  // namespace
}  // namespace ksearch

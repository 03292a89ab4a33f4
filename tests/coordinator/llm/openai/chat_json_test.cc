#include "coordinator/llm/openai/chat_json.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Reply(const std::string& choice, const std::string& usage = "null") {
  return absl::StrCat(R"({"id":"r1","model":"m-2026","choices":[)", choice, R"(],"usage":)", usage,
                      "}");
}

TEST(ChatRequestJsonTest, HoldsOnlyWhatEveryServerTakes) {
  LlmRequest request;
  request.model = "m";
  request.system = "rules";
  request.user = "task";
  request.max_output_tokens = 77;
  EXPECT_EQ(ChatRequestJson(request, {.token_limit_field = "max_tokens"}),
            R"({"max_tokens":77,"messages":[{"content":"rules","role":"system"},)"
            R"({"content":"task","role":"user"}],"model":"m"})");
}

TEST(ChatRequestJsonTest, ReasoningEffortIsSentWhenAskedForAndSystemOnlyIfThere) {
  LlmRequest request;
  request.reasoning_effort = "high";
  const std::string json = ChatRequestJson(request, {});
  EXPECT_THAT(json, HasSubstr(R"("reasoning_effort":"high")"));
  EXPECT_THAT(json, HasSubstr(R"("max_completion_tokens":32000)"));
  EXPECT_THAT(json, Not(HasSubstr("system")));
}

TEST(ChatRequestJsonTest, BytesThatAreNotUtf8AreReplaced) {
  LlmRequest request;
  request.user = "error: \xff\xfe here";
  EXPECT_THAT(ChatRequestJson(request, {.token_limit_field = "max_tokens"}),
              HasSubstr("error: \xEF\xBF\xBD"));
}

TEST(ParseChatReplyTest, ReadsTextModelFinishAndUsage) {
  const auto reply = ParseChatReply(
      Reply(R"({"finish_reason":"stop","message":{"role":"assistant","content":"code"}})",
            R"({"prompt_tokens":9,"completion_tokens":5,"total_tokens":14})"));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->text, "code");
  EXPECT_EQ(reply->finish_reason, "stop");
  EXPECT_EQ(reply->model, "m-2026");
  EXPECT_EQ(reply->response_id, "r1");
  EXPECT_TRUE(reply->usage_reported);
  EXPECT_EQ(reply->usage.input(), 9);
  EXPECT_EQ(reply->usage.output(), 5);
}

TEST(ParseChatReplyTest, ThinkingLeftOutOfCompletionTokensIsCounted) {
  const auto reply =
      ParseChatReply(Reply(R"({"finish_reason":"stop","message":{"content":"x"}})",
                           R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":1015})"));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->usage.output(), 1005);
}

TEST(ParseChatReplyTest, UsageMayBeAbsentOrSenseless) {
  auto reply = ParseChatReply(Reply(R"({"finish_reason":"stop","message":{"content":"x"}})"));
  ASSERT_TRUE(reply.ok());
  EXPECT_FALSE(reply->usage_reported);
  reply = ParseChatReply(Reply(R"({"finish_reason":"stop","message":{"content":"x"}})",
                               R"({"prompt_tokens":-4,"completion_tokens":"many"})"));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->usage.input(), 0);
  EXPECT_EQ(reply->usage.output(), 0);
}

TEST(ParseChatReplyTest, NullContentOfACutOffReplyIsEmptyText) {
  const auto reply =
      ParseChatReply(Reply(R"({"finish_reason":"length","message":{"content":null}})"));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->text, "");
  EXPECT_EQ(reply->finish_reason, "length");
}

TEST(ParseChatReplyTest, ChoiceWithoutMessageIsEmptyText) {
  const auto reply = ParseChatReply(Reply(R"({"finish_reason":"length"})"));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->text, "");
}

TEST(ParseChatReplyTest, EmptyTextWithStopIsDataLoss) {
  for (const char* content : {"null", R"("")", R"("  \n")"}) {
    const auto reply = ParseChatReply(
        Reply(absl::StrCat(R"({"finish_reason":"stop","message":{"content":)", content, "}}")));
    EXPECT_EQ(reply.status().code(), absl::StatusCode::kDataLoss) << content;
    EXPECT_THAT(std::string(reply.status().message()), HasSubstr("empty reply"));
  }
}

TEST(ParseChatReplyTest, RefusalBecomesTextWithItsOwnFinishReason) {
  const auto reply = ParseChatReply(
      Reply(R"({"finish_reason":"stop","message":{"content":null,"refusal":"I cannot help"}})"));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->finish_reason, "refusal");
  EXPECT_EQ(reply->text, "I cannot help");
}

TEST(ParseChatReplyTest, LeadingThoughtsAreCut) {
  auto text = [](const std::string& content, const std::string& finish) {
    const auto reply = ParseChatReply(Reply(absl::StrCat(
        R"({"finish_reason":")", finish, R"(","message":{"content":")", content, R"("}})")));
    return reply.ok() ? reply->text : reply.status().ToString();
  };
  EXPECT_EQ(text(R"(\n<think>hm</think>\n\nint x;)", "stop"), "int x;");
  EXPECT_EQ(text(R"(int x; // <think>hm</think>)", "stop"), "int x; // <think>hm</think>");
  EXPECT_EQ(text(R"(<think>never ends)", "length"), "");
  EXPECT_EQ(text(R"(<think>never ends)", "stop"), "<think>never ends");
}

TEST(ParseChatReplyTest, ContentInPartsIsJoined) {
  const auto reply = ParseChatReply(
      Reply(R"({"finish_reason":"stop","message":{"content":[{"type":"text","text":"a"},)"
            R"({"type":"reasoning","text":"no"},{"type":"text","text":"b"}]}})"));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->text, "ab");
}

TEST(ParseChatReplyTest, GarbageIsDataLoss) {
  for (const char* body : {"", "<html>busy</html>", "{", "[]", "null", "{}", R"({"choices":[]})",
                           R"({"choices":{"a":1}})", R"({"choices":[7]})", "\xff"}) {
    const auto reply = ParseChatReply(body);
    EXPECT_EQ(reply.status().code(), absl::StatusCode::kDataLoss) << body;
  }
}

TEST(ParseChatReplyTest, DeepNestingIsHarmless) {
  const std::string deep(100000, '[');
  EXPECT_FALSE(ParseChatReply(deep).ok());
  EXPECT_FALSE(ParseChatError(deep).has_value());
}

TEST(ParseChatErrorTest, KnowsTheShapesOfManyServers) {
  auto error = ParseChatError(
      R"({"error":{"message":"no credit","type":"insufficient_quota","code":"credit"}})");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->message, "no credit");
  EXPECT_EQ(error->type, "insufficient_quota");
  EXPECT_EQ(error->code, "credit");

  error = ParseChatError(R"([{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}])");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, "400");
  EXPECT_EQ(error->type, "INVALID_ARGUMENT");

  EXPECT_EQ(ParseChatError(R"({"error":"model is loading"})")->message, "model is loading");
  EXPECT_EQ(ParseChatError(R"({"object":"error","message":"too long","code":400})")->message,
            "too long");
  EXPECT_EQ(ParseChatError(R"({"detail":"Not Found"})")->message, "Not Found");
  EXPECT_EQ(ParseChatError(R"({"detail":[{"loc":1}]})")->message, R"([{"loc":1}])");
}

TEST(ParseChatErrorTest, AReplyIsNoError) {
  EXPECT_FALSE(ParseChatError(Reply(R"({"message":{"content":"error"}})")).has_value());
  EXPECT_FALSE(ParseChatError(R"({"error":null,"choices":[]})").has_value());
  EXPECT_FALSE(ParseChatError("error").has_value());
}

TEST(ParseChatErrorTest, ReadsGoogleRetryAndDailyQuota) {
  const auto error = ParseChatError(
      R"([{"error":{"code":429,"message":"slow","details":[)"
      R"({"@type":"type.googleapis.com/google.rpc.QuotaFailure",)"
      R"("violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]},)"
      R"({"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"22s"}]}}])");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->retry_after, absl::Seconds(22));
  EXPECT_TRUE(error->daily_quota);
}

TEST(ParseChatErrorTest, LongMessagesAreCutBetweenCharacters) {
  std::string message;
  for (int i = 0; i < 1000; ++i) message += "\xC3\xA4";  // two bytes each
  const auto error = ParseChatError(absl::StrCat(R"({"error":"x)", message, R"("})"));
  ASSERT_TRUE(error.has_value());
  EXPECT_LE(error->message.size(), 603u);
  EXPECT_THAT(error->message, testing::EndsWith("\xC3\xA4..."));
}

}  // namespace
}  // namespace ksearch

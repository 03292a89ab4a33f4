#include "coordinator/llm/openai/openai_chat_client.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "coordinator/llm/failure/retry_after.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_http_transport.h"

namespace ksearch {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kKey[] = "sk-proj-abcdefghijklmnop1234567890";
constexpr char kUrl[] = "https://api.example.com/v1/chat/completions";

OpenAiChatOptions Options() {
  ::setenv("KSEARCH_TEST_KEY", kKey, 1);
  OpenAiChatOptions options;
  options.provider = "example";
  options.base_url = "https://api.example.com/v1";
  options.key = ApiKey::Read("KSEARCH_TEST_KEY", "").value();
  options.default_model = "m-default";
  return options;
}

// One call over a fake transport.
class OpenAiChatClientTest : public testing::Test {
 protected:
  void Start(OpenAiChatOptions options = Options(), LlmRequest request = {}) {
    client_.emplace(std::move(options), transport_, clock_);
    client_->Complete(std::move(request), [this](absl::StatusOr<LlmReply> reply) {
      ++replies_;
      reply_ = std::move(reply);
    });
  }
  // The failure that an HTTP answer leads to.
  absl::Status Failure(int http_status, std::string body,
                       std::map<std::string, std::string> headers = {}) {
    Start();
    transport_.Answer(HttpResponse{
        .status = http_status, .headers = std::move(headers), .body = std::move(body)});
    EXPECT_FALSE(reply_.ok());
    EXPECT_THAT(std::string(reply_.status().message()), Not(HasSubstr("abcdefg")));
    return reply_.status();
  }
  absl::StatusCode Code(int http_status, std::string body) {
    return Failure(http_status, std::move(body)).code();
  }

  FakeClock clock_;
  int replies_ = 0;
  absl::StatusOr<LlmReply> reply_ = absl::UnknownError("no reply yet");
  std::optional<OpenAiChatClient> client_;
  FakeHttpTransport transport_;  // last: its destructor runs callbacks
};

TEST_F(OpenAiChatClientTest, SendsKeyModelAndNoLabelsUnlessAsked) {
  Start();
  ASSERT_EQ(transport_.posts.size(), 1u);
  const HttpRequest& post = transport_.posts.front().first;
  EXPECT_EQ(post.url, kUrl);
  EXPECT_THAT(post.headers, Contains(absl::StrCat("Authorization: Bearer ", kKey)));
  EXPECT_THAT(post.headers, Not(Contains(HasSubstr("X-Ksearch"))));
  EXPECT_THAT(post.body, HasSubstr(R"("model":"m-default")"));
  EXPECT_THAT(post.body, Not(HasSubstr("sk-proj")));
}

TEST_F(OpenAiChatClientTest, SendsLabelsAsHeadersAndNeverALineBreak) {
  OpenAiChatOptions options = Options();
  options.label_headers = true;
  options.key = ApiKey();
  LlmRequest request;
  request.labels = {.purpose = "action", .node_id = "a\r\nX-Evil: 1", .attempt = 2, .cycle = 3};
  Start(options, request);
  const auto& headers = transport_.posts.front().first.headers;
  EXPECT_THAT(headers, Contains("X-Ksearch-Purpose: action"));
  EXPECT_THAT(headers, Contains("X-Ksearch-Node: a__X-Evil: 1"));
  EXPECT_THAT(headers, Contains("X-Ksearch-Attempt: 2"));
  EXPECT_THAT(headers, Contains("X-Ksearch-Cycle: 3"));
  EXPECT_THAT(headers, Not(Contains(HasSubstr("Authorization"))));
}

TEST_F(OpenAiChatClientTest, GivesTheReplyOnce) {
  Start();
  transport_.Answer(200, R"({"choices":[{"finish_reason":"stop","message":{"content":"hi"}}]})");
  ASSERT_TRUE(reply_.ok()) << reply_.status();
  EXPECT_EQ(reply_->text, "hi");
  EXPECT_EQ(replies_, 1);
}

TEST_F(OpenAiChatClientTest, WrongKeyNamesProviderUrlAndVariable) {
  const absl::Status status = Failure(
      401, absl::StrCat(R"({"error":{"message":"Incorrect API key provided: )", kKey, R"("}})"));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(status.message(),
            "provider \"example\": HTTP 401 from https://api.example.com/v1/chat/completions: "
            "Incorrect API key provided: [key]; check the API key in environment variable "
            "KSEARCH_TEST_KEY");
}

TEST_F(OpenAiChatClientTest, PartsOfTheKeyAreTakenOutEverywhere) {
  const std::string part = std::string(kKey).substr(8, 14);
  for (const std::string& body :
       {absl::StrCat(R"({"error":{"message":"m","code":")", part, R"("}})"), part,
        absl::StrCat(R"({"error":")", part, R"("})")}) {
    for (int http_status : {200, 400, 401, 404, 500}) {
      if (http_status == 200 && body == part) continue;  // not an error object: never shown
      EXPECT_THAT(std::string(Failure(http_status, body).message()), HasSubstr("[key]"));
    }
  }
  EXPECT_THAT(std::string(Failure(500, "{}", {{"x-request-id", part}}).message()),
              HasSubstr("[request [key]]"));
}

TEST_F(OpenAiChatClientTest, ClassifiesHttpErrors) {
  EXPECT_EQ(Code(400, R"({"error":{"message":"bad field"}})"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Code(402, "{}"), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Code(403, "{}"), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Code(404, R"({"error":{"message":"The model does not exist"}})"),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Code(302, ""), absl::StatusCode::kNotFound);
  EXPECT_EQ(Code(422, "{}"), absl::StatusCode::kInvalidArgument);
  for (int transient : {408, 409, 429, 500, 502, 503, 504, 529}) {
    EXPECT_EQ(Code(transient, "busy"), absl::StatusCode::kUnavailable) << transient;
  }
}

TEST_F(OpenAiChatClientTest, RunningOutOfMoneyIsNotBeingTooFast) {
  EXPECT_EQ(Code(429, R"({"error":{"message":"m","code":"rate_limit_exceeded"}})"),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(Code(429, R"({"error":{"message":"m","type":"insufficient_quota"}})"),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Code(429, R"([{"error":{"code":429,"details":[{"violations":[{"quotaId":"XPerDayY"}]},)"
                      R"({"retryDelay":"3s"}]}}])"),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(OpenAiChatClientTest, ContextOverflowIsToldByCodeOrWords) {
  EXPECT_EQ(Code(400, R"({"error":{"code":"context_length_exceeded","message":"m"}})"),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Code(400, R"({"error":"the request exceeds the available context size"})"),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Code(400, R"({"object":"error","message":"This model's maximum context length is 4"})"),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Code(400, R"({"error":{"code":"string_above_max_length",)"
                      R"("message":"maximum context length is"}})"),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(OpenAiChatClientTest, AnErrorInsideA200IsAnError) {
  EXPECT_EQ(Code(200, R"({"error":{"message":"upstream is overloaded"}})"),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(Code(200, R"({"error":{"message":"m","code":429}})"), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Code(200, R"({"error":{"message":"m","code":401}})"),
            absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Code(200, R"({"error":{"message":"m","type":"invalid_request_error"}})"),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Code(200, R"({"error":{"message":"m","code":"insufficient_quota"}})"),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(OpenAiChatClientTest, GarbageIsDataLossAndNamesTheUrl) {
  const absl::Status status = Failure(200, "<html>login</html>");
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(kUrl));
}

TEST_F(OpenAiChatClientTest, RetryAfterComesFromHeadersOrBody) {
  auto retry_after = [this](std::map<std::string, std::string> headers, std::string body = "{}") {
    return GetRetryAfter(Failure(429, std::move(body), std::move(headers)));
  };
  EXPECT_EQ(retry_after({{"retry-after", "7"}}), absl::Seconds(7));
  EXPECT_EQ(retry_after({{"retry-after", "7"}, {"retry-after-ms", "1500"}}),
            absl::Milliseconds(1500));
  const std::string date = absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT",
                                            clock_.Now() + absl::Seconds(30), absl::UTCTimeZone());
  EXPECT_EQ(retry_after({{"retry-after", date}}), absl::Seconds(30));
  EXPECT_EQ(retry_after({{"retry-after", "Fri, 01 Jan 1999 00:00:00 GMT"}}), absl::ZeroDuration());
  EXPECT_EQ(retry_after({{"retry-after", "soon"}}), std::nullopt);
  EXPECT_EQ(retry_after({{"retry-after", "-3"}}), std::nullopt);
  EXPECT_EQ(retry_after({}, R"([{"error":{"details":[{"retryDelay":"2.5s"}]}}])"),
            absl::Seconds(2.5));
}

TEST_F(OpenAiChatClientTest, ACallNeedsAModel) {
  OpenAiChatOptions options = Options();
  options.default_model = "";
  Start(options);
  EXPECT_EQ(replies_, 0);  // never on the caller's thread
  transport_.Fire();
  EXPECT_EQ(reply_.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(reply_.status().message()), HasSubstr("openai_chat.default_model"));
  EXPECT_TRUE(transport_.posts.empty());
}

TEST_F(OpenAiChatClientTest, TransportFailureNamesTheProvider) {
  Start();
  transport_.Answer(absl::UnavailableError("cannot connect to https://x"));
  EXPECT_EQ(reply_.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(reply_.status().message(), "provider \"example\": cannot connect to https://x");
}

}  // namespace
}  // namespace ksearch

#include "coordinator/llm/anthropic/anthropic_client.h"

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
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

constexpr char kKey[] = "sk-ant-abcdefghijklmnop1234567890";
constexpr char kUrl[] = "https://api.example.com/v1/messages";
constexpr char kHi[] =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":"
    "{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":"
    "{\"stop_reason\":\"end_turn\"}}\n\n";

AnthropicOptions Options() {
  ::setenv("KSEARCH_TEST_KEY", kKey, 1);
  AnthropicOptions options;
  options.provider = "example";
  options.base_url = "https://api.example.com";
  options.key = ApiKey::Read("KSEARCH_TEST_KEY", "").value();
  options.default_model = "c-default";
  return options;
}

std::string ErrorJson(absl::string_view type, absl::string_view message = "m") {
  return absl::StrCat(R"({"type":"error","error":{"type":")", type, R"(","message":")", message,
                      R"("},"request_id":"req_1"})");
}

// One call over a fake transport.
class AnthropicClientTest : public testing::Test {
 protected:
  void Start(AnthropicOptions options = Options(), LlmRequest request = {}) {
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
  // An error object, as a whole body and as an event of a stream.
  absl::StatusCode Code(int http_status, absl::string_view type, absl::string_view message = "m") {
    return Failure(http_status, ErrorJson(type, message)).code();
  }
  absl::StatusCode StreamedCode(absl::string_view type, absl::string_view message = "m") {
    return Failure(200, absl::StrCat("event: error\ndata: ", ErrorJson(type, message), "\n\n"))
        .code();
  }

  FakeClock clock_;
  int replies_ = 0;
  absl::StatusOr<LlmReply> reply_ = absl::UnknownError("no reply yet");
  std::optional<AnthropicClient> client_;
  FakeHttpTransport transport_;  // last: its destructor runs callbacks
};

TEST_F(AnthropicClientTest, SendsKeyVersionModelAndLabels) {
  AnthropicOptions options = Options();
  options.label_headers = true;
  LlmRequest request;
  request.labels.node_id = "n1";
  Start(options, request);
  ASSERT_EQ(transport_.posts.size(), 1u);
  const HttpRequest& post = transport_.posts.front().first;
  EXPECT_EQ(post.url, kUrl);
  EXPECT_THAT(post.headers, Contains(absl::StrCat("X-Api-Key: ", kKey)));
  EXPECT_THAT(post.headers, Contains("anthropic-version: 2023-06-01"));
  EXPECT_THAT(post.headers, Contains("Content-Type: application/json"));
  EXPECT_THAT(post.headers, Contains("X-Ksearch-Node: n1"));
  EXPECT_THAT(post.headers, Not(Contains(HasSubstr("Authorization"))));
  EXPECT_THAT(post.body, HasSubstr(R"("model":"c-default")"));
  EXPECT_THAT(post.body, Not(HasSubstr("sk-ant")));
}

TEST_F(AnthropicClientTest, GivesTheReplyOnce) {
  Start();
  transport_.Answer(200, kHi);
  ASSERT_TRUE(reply_.ok()) << reply_.status();
  EXPECT_EQ(reply_->text, "hi");
  EXPECT_EQ(reply_->response_id, "msg_1");
  EXPECT_EQ(replies_, 1);
}

TEST_F(AnthropicClientTest, WrongKeyNamesProviderUrlRequestAndVariable) {
  const absl::Status status =
      Failure(401, ErrorJson("authentication_error", absl::StrCat("invalid x-api-key ", kKey)),
              {{"request-id", "req_1"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(status.message(),
            "provider \"example\": HTTP 401 from https://api.example.com/v1/messages: invalid "
            "x-api-key [key] (authentication_error) [request req_1]; check the API key in "
            "environment variable KSEARCH_TEST_KEY");
}

TEST_F(AnthropicClientTest, PartsOfTheKeyAreTakenOutEverywhere) {
  const std::string part = std::string(kKey).substr(7, 14);
  for (const std::string& body :
       {ErrorJson(part), ErrorJson("api_error", part), absl::StrCat(R"({"error":")", part, R"("})"),
        absl::StrCat("event: error\ndata: ", ErrorJson("api_error", part), "\n\n")}) {
    for (int http_status : {200, 400, 401, 404, 500}) {
      EXPECT_THAT(std::string(Failure(http_status, body).message()), HasSubstr("[key]"));
    }
  }
  EXPECT_THAT(std::string(Failure(200, part).message()), HasSubstr("nor an event stream"));
}

TEST_F(AnthropicClientTest, ErrorsAreClassifiedByStatusAndType) {
  const struct {
    int http_status;
    const char* type;
    absl::StatusCode code;
  } cases[] = {
      {400, "invalid_request_error", absl::StatusCode::kInvalidArgument},
      {401, "authentication_error", absl::StatusCode::kUnauthenticated},
      {402, "billing_error", absl::StatusCode::kResourceExhausted},
      {403, "permission_error", absl::StatusCode::kPermissionDenied},
      {404, "not_found_error", absl::StatusCode::kNotFound},
      {413, "request_too_large", absl::StatusCode::kInvalidArgument},
      {429, "rate_limit_error", absl::StatusCode::kUnavailable},
      {500, "api_error", absl::StatusCode::kUnavailable},
      {504, "timeout_error", absl::StatusCode::kUnavailable},
      {529, "overloaded_error", absl::StatusCode::kUnavailable},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Code(c.http_status, c.type), c.code) << c.type;
    EXPECT_EQ(StreamedCode(c.type), c.code) << c.type;
  }
  EXPECT_EQ(Failure(502, "<html>").code(), absl::StatusCode::kUnavailable);
}

TEST_F(AnthropicClientTest, MoneyAndLengthAreToldByWords) {
  const struct {
    const char* message;
    absl::StatusCode code;
  } cases[] = {
      {"prompt is too long: 9 tokens > 8 maximum", absl::StatusCode::kOutOfRange},
      {"input length and `max_tokens` exceed context limit: 1", absl::StatusCode::kOutOfRange},
      {"Your credit balance is too low", absl::StatusCode::kResourceExhausted},
      {"You have reached your specified API usage limits.", absl::StatusCode::kResourceExhausted},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Code(400, "invalid_request_error", c.message), c.code) << c.message;
  }
  EXPECT_EQ(Failure(429, R"({"error":{"type":"rate_limit_error","message":"m",)"
                         R"("details":{"error_code":"enforced_spend_limit_reached"}}})")
                .code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(AnthropicClientTest, RetryAfterIsHandedOn) {
  EXPECT_EQ(GetRetryAfter(Failure(529, ErrorJson("overloaded_error"), {{"retry-after", "7"}})),
            absl::Seconds(7));
}

TEST_F(AnthropicClientTest, GarbageIsDataLossAndNamesTheUrl) {
  const absl::Status status = Failure(200, "<html>login</html>");
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(kUrl));
}

TEST_F(AnthropicClientTest, ACallNeedsAModel) {
  AnthropicOptions options = Options();
  options.default_model = "";
  Start(options);
  EXPECT_EQ(replies_, 0);  // never on the caller's thread
  transport_.Fire();
  EXPECT_EQ(reply_.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(reply_.status().message()), HasSubstr("anthropic.default_model"));
  EXPECT_TRUE(transport_.posts.empty());
}

TEST_F(AnthropicClientTest, TransportFailureNamesTheProvider) {
  Start();
  transport_.Answer(absl::UnavailableError("cannot connect to https://x"));
  EXPECT_EQ(reply_.status(),
            absl::UnavailableError("provider \"example\": cannot connect to https://x"));
}

}  // namespace
}  // namespace ksearch

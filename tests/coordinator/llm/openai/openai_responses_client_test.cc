#include "coordinator/llm/openai/openai_responses_client.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/llm/openai/responses_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_http_transport.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kQueued[] = R"({"id":"resp_1","status":"queued","output":[]})";
constexpr char kDone[] =
    R"({"id":"resp_1","model":"m-2026","status":"completed","output":[{"type":"reasoning"},)"
    R"({"type":"message","content":[{"type":"output_text","text":"hi"}]}],"usage":)"
    R"({"input_tokens":9000,"input_tokens_details":{"cached_tokens":8192,"cache_write_tokens":100},)"
    R"("output_tokens":500,"output_tokens_details":{"reasoning_tokens":400}}})";
constexpr char kFailed[] =
    R"({"id":"resp_1","status":"failed","error":{"code":"server_error","message":"broke"}})";

// Stores when the test says so.
class FakeProviderState final : public ProviderState {
 public:
  std::string Load() const override { return state; }
  void Save(std::string saved, absl::AnyInvocable<void(absl::Status)> stored) override {
    state = std::move(saved);
    pending.push_back(std::move(stored));
  }
  void Store(absl::Status status = absl::OkStatus()) {
    for (auto& stored : pending) std::move(stored)(status);
    pending.clear();
  }
  std::string state;
  std::vector<absl::AnyInvocable<void(absl::Status)>> pending;
};

class OpenAiResponsesClientTest : public testing::Test {
 protected:
  OpenAiResponsesClientTest() { New(true); }
  ~OpenAiResponsesClientTest() override { transport_.reset(); }

  void New(bool background) {
    transport_ = std::make_unique<FakeHttpTransport>();
    OpenAiResponsesOptions options;
    options.provider = "p";
    options.base_url = "https://api.example.com/v1";
    options.default_model = "m";
    options.background = background;
    client_.emplace(options, *transport_, clock_);
  }
  void Start() {
    LlmRequest request;
    request.system = "rules";
    request.user = "task";
    request.reasoning_effort = "high";
    request.state = state_;
    client_->Complete(std::move(request),
                      [this](absl::StatusOr<LlmReply> reply) { reply_ = std::move(reply); });
  }
  void FireTimer() {
    clock_.Advance(transport_->timers.front().first);
    transport_->Fire();
  }
  const HttpRequest& Sent() { return transport_->posts.front().first; }

  FakeClock clock_;
  std::shared_ptr<FakeProviderState> state_ = std::make_shared<FakeProviderState>();
  std::unique_ptr<FakeHttpTransport> transport_;
  std::optional<OpenAiResponsesClient> client_;
  std::optional<absl::StatusOr<LlmReply>> reply_;
};

TEST_F(OpenAiResponsesClientTest, InTheForegroundItStreams) {
  New(false);
  Start();
  EXPECT_EQ(Sent().url, "https://api.example.com/v1/responses");
  EXPECT_THAT(Sent().body, HasSubstr(R"("reasoning":{"effort":"high"})"));
  EXPECT_THAT(Sent().body, HasSubstr(R"("instructions":"rules")"));
  EXPECT_THAT(Sent().body, HasSubstr(R"("stream":true)"));
  EXPECT_THAT(Sent().body, HasSubstr(R"("store":false)"));
  EXPECT_THAT(Sent().body, Not(HasSubstr("background")));
  transport_->Answer(HttpResponse{
      .status = 200,
      .headers = {{"content-type", "text/event-stream"}},
      .body = std::string("event: response.completed\ndata: {\"type\":\"response.completed\","
                          "\"response\":") +
              kDone + "}\n\n"});
  ASSERT_TRUE(reply_.has_value() && reply_->ok()) << reply_->status();
  EXPECT_EQ((*reply_)->text, "hi");
  EXPECT_EQ((*reply_)->model, "m-2026");
  const TokenUsage usage = {.uncached_input = 708,
                            .cache_read = 8192,
                            .cache_write_5m = 100,
                            .cache_write_1h = 0,
                            .visible_output = 100,
                            .reasoning_output = 400,
                            .inconsistent = false};
  EXPECT_EQ((*reply_)->usage, usage);
  EXPECT_EQ(state_->state, "");
}

TEST_F(OpenAiResponsesClientTest, TheIdIsStoredBeforeItIsAskedFor) {
  Start();
  EXPECT_THAT(Sent().body, HasSubstr(R"("background":true)"));
  EXPECT_THAT(Sent().body, HasSubstr(R"("store":true)"));
  transport_->Answer(200, kQueued);
  EXPECT_THAT(state_->state, HasSubstr("resp_1"));
  FireTimer();
  FireTimer();
  EXPECT_TRUE(transport_->posts.empty());  // not stored yet
  state_->Store();
  FireTimer();
  ASSERT_EQ(transport_->posts.size(), 1u);
  EXPECT_EQ(Sent().method, HttpRequest::Method::kGet);
  EXPECT_EQ(Sent().url, "https://api.example.com/v1/responses/resp_1");
  transport_->Answer(200, R"({"id":"resp_1","status":"in_progress"})");
  FireTimer();
  transport_->Answer(200, kDone);
  ASSERT_TRUE(reply_.has_value() && reply_->ok());
  EXPECT_EQ((*reply_)->text, "hi");
}

TEST_F(OpenAiResponsesClientTest, TheNextLifeAsksForTheSameResponse) {
  Start();
  transport_->Answer(200, kQueued);
  state_->Store();
  transport_.reset();  // the coordinator ends
  EXPECT_EQ(reply_->status().code(), absl::StatusCode::kCancelled);
  New(true);
  reply_.reset();
  Start();
  EXPECT_EQ(Sent().method, HttpRequest::Method::kGet);
  EXPECT_EQ(Sent().url, "https://api.example.com/v1/responses/resp_1");
  transport_->Answer(200, kDone);
  EXPECT_TRUE(reply_->ok());
}

TEST_F(OpenAiResponsesClientTest, PollsThatFailDoNotCostTheResponse) {
  Start();
  transport_->Answer(200, kQueued);
  state_->Store();
  for (int i = 0; i < 4; ++i) {
    FireTimer();
    transport_->Answer(502, "oops");
    EXPECT_FALSE(reply_.has_value());
  }
  FireTimer();
  transport_->Answer(502, "oops");
  ASSERT_TRUE(reply_.has_value());
  EXPECT_EQ(reply_->status().code(), absl::StatusCode::kUnavailable);
  reply_.reset();
  Start();  // like a retry
  EXPECT_EQ(Sent().method, HttpRequest::Method::kGet);
}

TEST_F(OpenAiResponsesClientTest, AResponseThatIsGoneOrFailedIsForgotten) {
  for (const bool gone : {true, false}) {
    state_->state = "openai_responses resp_1";
    reply_.reset();
    Start();
    transport_->Answer(gone ? 404 : 200, gone ? "{}" : kFailed);
    ASSERT_TRUE(reply_.has_value());
    EXPECT_EQ(reply_->status().code(),
              gone ? absl::StatusCode::kDataLoss : absl::StatusCode::kUnavailable);
    EXPECT_EQ(state_->state, "");
  }
}

TEST_F(OpenAiResponsesClientTest, WhatTakesTooLongIsCancelledAtTheProvider) {
  Start();
  transport_->Answer(200, kQueued);
  state_->Store();
  FireTimer();
  clock_.Advance(absl::Hours(1));
  transport_->Answer(200, kQueued);
  EXPECT_EQ(Sent().url, "https://api.example.com/v1/responses/resp_1/cancel");
  transport_->Answer(200, "{}");
  EXPECT_EQ(reply_->status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(state_->state, "");
}

TEST_F(OpenAiResponsesClientTest, AStateOfAnotherKindOrAForgedIdIsIgnored) {
  for (const char* state : {"resp_1", "openai_responses ../../keys", "openai_responses "}) {
    state_->state = state;
    Start();
    EXPECT_EQ(Sent().method, HttpRequest::Method::kPost);
    transport_->Answer(401, "{}");
  }
}

TEST(ParseResponseTest, EndsHaveTheNamesOfLlmReply) {
  const auto finish = [](const std::string& more) {
    return ParseResponse(
               R"({"id":"r","output":[{"type":"message","content":[{"type":"output_text",)"
               R"("text":"t"}]}],)" +
               more + "}")
        ->outcome->reply.finish_reason;
  };
  EXPECT_EQ(finish(R"("status":"completed")"), "stop");
  EXPECT_EQ(finish(R"("status":"incomplete","incomplete_details":{"reason":"max_output_tokens"})"),
            "length");
  EXPECT_EQ(finish(R"("status":"incomplete","incomplete_details":{"reason":"content_filter"})"),
            "content_filter");
  const auto refusal = ParseResponse(
      R"({"status":"completed","output":[{"type":"message","content":[{"type":"refusal",)"
      R"("refusal":"no"}]}]})");
  EXPECT_EQ(refusal->outcome->reply.finish_reason, "refusal");
  EXPECT_EQ(refusal->outcome->reply.text, "no");
  EXPECT_EQ(ParseResponse(R"({"status":"completed","output":[]})").status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace ksearch

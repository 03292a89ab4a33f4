#include "coordinator/llm/flow/retrying_client.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/llm/openai/openai_chat_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_http_transport.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

constexpr char kGood[] = R"({"choices":[{"finish_reason":"stop","message":{"content":"hi"}}]})";

// The real client below, on a fake transport whose timers the tests fire.
class RetryingClientTest : public testing::Test {
 protected:
  RetryingClientTest() {
    RetryOptions options;
    options.max_attempts = 4;
    OpenAiChatOptions chat;
    chat.provider = "p";
    chat.base_url = "http://127.0.0.1:1/v1";
    chat.default_model = "m";
    client_.emplace(std::make_unique<OpenAiChatClient>(chat, *transport_, clock_), *transport_,
                    clock_, options, /*seed=*/7);
  }
  // Callbacks may not outlive the client.
  ~RetryingClientTest() override { transport_.reset(); }

  void Start() {
    client_->Complete(
        {}, [this](absl::StatusOr<LlmReply> reply) { replies_.push_back(std::move(reply)); });
  }
  absl::Duration NextTimer() const { return transport_->timers.front().first; }
  void FireTimer() {
    clock_.Advance(NextTimer());
    transport_->Fire();
  }

  FakeClock clock_;
  std::unique_ptr<FakeHttpTransport> transport_ = std::make_unique<FakeHttpTransport>();
  std::optional<RetryingClient> client_;
  std::vector<absl::StatusOr<LlmReply>> replies_;
};

TEST_F(RetryingClientTest, SuccessNeedsNoTimer) {
  Start();
  transport_->Answer(200, kGood);
  ASSERT_EQ(replies_.size(), 1u);
  EXPECT_EQ(replies_[0]->text, "hi");
  EXPECT_TRUE(transport_->timers.empty());
}

TEST_F(RetryingClientTest, TransientFailuresAreTriedAgainWithGrowingDelays) {
  Start();
  absl::Duration bound = absl::Seconds(1);
  for (int i = 0; i < 3; ++i) {
    transport_->Answer(500, "oops");
    ASSERT_EQ(transport_->timers.size(), 1u);
    EXPECT_LE(NextTimer(), bound);
    bound *= 2;
    FireTimer();
  }
  transport_->Answer(200, kGood);
  ASSERT_EQ(replies_.size(), 1u);
  EXPECT_TRUE(replies_[0].ok());
}

TEST_F(RetryingClientTest, GivesUpAfterMaxAttemptsAndSaysSo) {
  Start();
  for (int i = 0; i < 3; ++i) {
    transport_->Answer(absl::UnavailableError("cannot connect to http://127.0.0.1:1/v1"));
    FireTimer();
  }
  transport_->Answer(absl::UnavailableError("cannot connect to http://127.0.0.1:1/v1"));
  ASSERT_EQ(replies_.size(), 1u);
  EXPECT_EQ(replies_[0].status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(replies_[0].status().message()), HasSubstr("after 4 attempts"));
  EXPECT_TRUE(transport_->posts.empty());
}

TEST_F(RetryingClientTest, TerminalFailuresAreNot) {
  for (int http_status : {400, 401, 402, 403, 404}) {
    Start();
    transport_->Answer(http_status, "{}");
    EXPECT_TRUE(transport_->timers.empty()) << http_status;
    EXPECT_TRUE(transport_->posts.empty()) << http_status;
  }
  EXPECT_EQ(replies_.size(), 5u);
}

TEST_F(RetryingClientTest, EmptyReplyAndTimeoutAreTriedAgainOnceOnly) {
  for (const absl::StatusOr<HttpResponse>& answer :
       {absl::StatusOr<HttpResponse>(HttpResponse{.status = 200,
       .headers = {},
       .body = R"({"choices":[{"finish_reason":"stop","message":{"content":""}}]})"}),
        absl::StatusOr<HttpResponse>(absl::DeadlineExceededError("late"))}) {
    replies_.clear();
    Start();
    transport_->Answer(answer);
    EXPECT_TRUE(replies_.empty());
    FireTimer();
    transport_->Answer(answer);
    ASSERT_EQ(replies_.size(), 1u);
    EXPECT_TRUE(replies_[0].status().code() == absl::StatusCode::kDataLoss ||
                replies_[0].status().code() == absl::StatusCode::kDeadlineExceeded);
  }
}

TEST_F(RetryingClientTest, WaitsAtLeastAsLongAsTheServerAsks) {
  Start();
  transport_->Answer(HttpResponse{.status = 429, .headers = {{"retry-after", "20"}}, .body = "{}"});
  EXPECT_GE(NextTimer(), absl::Seconds(20));
  EXPECT_LE(NextTimer(), absl::Seconds(22));
  FireTimer();
  transport_->Answer(200, kGood);
  EXPECT_EQ(replies_.size(), 1u);
}

TEST_F(RetryingClientTest, OtherCallsWaitToo) {
  Start();
  transport_->Answer(HttpResponse{.status = 429, .headers = {{"retry-after", "20"}}, .body = "{}"});
  Start();
  EXPECT_TRUE(transport_->posts.empty());
  ASSERT_EQ(transport_->timers.size(), 2u);
  EXPECT_EQ(transport_->timers.back().first, absl::Seconds(20));
  clock_.Advance(absl::Seconds(30));
  transport_->Fire();
  transport_->Fire();
  EXPECT_EQ(transport_->posts.size(), 2u);
}

TEST_F(RetryingClientTest, TooLongAWaitIsTheCallersDecision) {
  Start();
  transport_->Answer(
      HttpResponse{.status = 429, .headers = {{"retry-after", "3600"}}, .body = "{}"});
  ASSERT_EQ(replies_.size(), 1u);
  EXPECT_EQ(replies_[0].status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(replies_[0].status().message()), HasSubstr("asks to wait 1h"));
  Start();  // and holds up nobody else
  EXPECT_EQ(transport_->posts.size(), 1u);
}

TEST_F(RetryingClientTest, ShutdownEndsWaitingCallsAndCallsInFlight) {
  Start();
  transport_->Answer(500, "oops");
  Start();
  transport_.reset();
  ASSERT_EQ(replies_.size(), 2u);
  for (const auto& reply : replies_) {
    EXPECT_EQ(reply.status().code(), absl::StatusCode::kCancelled);
  }
}

}  // namespace
}  // namespace ksearch

#include "coordinator/llm/flow/retrying_client.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/llm/failure/billed_tries.h"
#include "coordinator/llm/openai/openai_chat_client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_http_transport.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
    client_.emplace(
        std::make_unique<OpenAiChatClient>(chat, *transport_, clock_), *transport_, clock_, options,
        [this](const std::string&) { return gate_; }, /*seed=*/7);
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
  std::shared_ptr<CallGate> gate_ = std::make_shared<CallGate>(GateOptions());
  std::unique_ptr<FakeHttpTransport> transport_ = std::make_unique<FakeHttpTransport>();
  std::optional<RetryingClient> client_;
  std::vector<absl::StatusOr<LlmReply>> replies_;
};

TEST_F(RetryingClientTest, TriesThatMayHaveBeenBilledAreTold) {
  absl::Status lost = absl::UnavailableError("talking to it: connection reset");
  SetBilledTries(&lost, 1);
  Start();
  transport_->Answer(lost);
  FireTimer();
  transport_->Answer(503, "");  // was not worked on
  FireTimer();
  transport_->Answer(200, kGood);
  ASSERT_EQ(replies_.size(), 1u);
  ASSERT_TRUE(replies_[0].ok()) << replies_[0].status();
  EXPECT_EQ(replies_[0]->billed_tries, 1);

  Start();
  transport_->Answer(lost);
  FireTimer();
  transport_->Answer(absl::DeadlineExceededError("no answer"));
  FireTimer();
  transport_->Answer(401, "");
  ASSERT_EQ(replies_.size(), 2u);
  EXPECT_EQ(BilledTries(replies_[1].status()), 2);
}

TEST_F(RetryingClientTest, ChecksAreMadeOnceAndWaitForNoRest) {
  const auto check = [this] {
    LlmRequest request;
    request.labels.purpose = "check";
    client_->Complete(std::move(request), [this](absl::StatusOr<LlmReply> reply) {
      replies_.push_back(std::move(reply));
    });
  };
  EXPECT_EQ(client_->RestsFor(""), absl::ZeroDuration());
  check();
  transport_->Answer(HttpResponse{
      .status = 429, .headers = {{"retry-after", "20"}}, .body = "{\"error\": \"slow down\"}"});
  ASSERT_EQ(replies_.size(), 1u) << "it is not tried again";
  EXPECT_TRUE(absl::IsUnavailable(replies_[0].status()));
  EXPECT_EQ(client_->RestsFor(""), absl::Seconds(20));
  clock_.Advance(absl::Milliseconds(500));
  check();
  ASSERT_EQ(replies_.size(), 2u) << "it does not wait";
  EXPECT_TRUE(transport_->posts.empty());
  EXPECT_THAT(std::string(replies_[1].status().message()),
              testing::AllOf(HasSubstr("no call is made for 20s more, after: "), HasSubstr("429")));
  clock_.Advance(absl::Seconds(20));
  check();
  transport_->Answer(200, kGood);
  ASSERT_EQ(replies_.size(), 3u);
  EXPECT_TRUE(replies_[2].ok()) << replies_[2].status();
}

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

TEST_F(RetryingClientTest, WhatAModelRefusesIsLeftOutAtOnce) {
  LlmRequest request;
  request.reasoning_effort = "high";
  const auto ask = [&] {
    client_->Complete(
        request, [this](absl::StatusOr<LlmReply> reply) { replies_.push_back(std::move(reply)); });
  };
  ask();
  ask();
  constexpr char kRefusal[] =
      R"({"error":{"message":"no","code":"unsupported_parameter","param":"reasoning_effort"}})";
  for (int call = 0; call < 2; ++call) {
    EXPECT_THAT(transport_->posts.front().first.body, HasSubstr("reasoning_effort"));
    transport_->Answer(400, kRefusal);
  }
  EXPECT_TRUE(transport_->timers.empty());
  ASSERT_EQ(transport_->posts.size(), 2u);
  EXPECT_THAT(transport_->posts.front().first.body, Not(HasSubstr("reasoning_effort")));
  transport_->Answer(200, kGood);
  ASSERT_EQ(replies_.size(), 1u);
  EXPECT_TRUE(replies_[0].ok());
  // A second refusal is final.
  transport_->Answer(400, kRefusal);
  ASSERT_EQ(replies_.size(), 2u);
  EXPECT_EQ(replies_[1].status().code(), absl::StatusCode::kInvalidArgument);
  ask();
  EXPECT_THAT(transport_->posts.front().first.body, Not(HasSubstr("reasoning_effort")));
}

TEST_F(RetryingClientTest, RateLimitsUsedUpMakeLaterCallsWait) {
  Start();
  transport_->Answer(HttpResponse{.status = 200,
                                  .headers = {{"x-ratelimit-limit-requests", "6"},
                                              {"x-ratelimit-remaining-requests", "0"},
                                              {"x-ratelimit-reset-requests", "60s"}},
                                  .body = kGood});
  EXPECT_EQ(replies_.size(), 1u);
  Start();
  EXPECT_TRUE(transport_->posts.empty());
  clock_.Advance(absl::Seconds(10));
  transport_->Fire();
  EXPECT_EQ(transport_->posts.size(), 1u);
}

TEST_F(RetryingClientTest, OtherCallsWaitToo) {
  Start();
  transport_->Answer(HttpResponse{.status = 429, .headers = {{"retry-after", "20"}}, .body = "{}"});
  Start();
  EXPECT_TRUE(transport_->posts.empty());
  ASSERT_EQ(transport_->timers.size(), 2u);  // the retry, and a look at the gate
  clock_.Advance(absl::Seconds(30));
  transport_->Fire();
  transport_->Fire();
  EXPECT_EQ(transport_->posts.size(), 2u);
}

TEST_F(RetryingClientTest, ALongWaitParksTheProviderNotTheCall) {
  Start();
  transport_->Answer(
      HttpResponse{.status = 429, .headers = {{"retry-after", "3600"}}, .body = "{}"});
  EXPECT_TRUE(replies_.empty());
  EXPECT_GE(NextTimer(), absl::Hours(1));
  FireTimer();
  transport_->Answer(200, kGood);
  ASSERT_EQ(replies_.size(), 1u);
  EXPECT_TRUE(replies_[0].ok());
}

TEST_F(RetryingClientTest, AWaitLongerThanTheCallsTimeEndsIt) {
  Start();
  transport_->Answer(
      HttpResponse{.status = 429, .headers = {{"retry-after", "36000"}}, .body = "{}"});
  ASSERT_EQ(replies_.size(), 1u);
  EXPECT_EQ(replies_[0].status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(replies_[0].status().message()), HasSubstr("retry.call_deadline"));
  Start();  // later calls fail, too, without being sent
  EXPECT_TRUE(transport_->posts.empty());
  ASSERT_EQ(replies_.size(), 2u);
  EXPECT_THAT(std::string(replies_[1].status().message()), HasSubstr("must not be called for 10h"));
}

TEST_F(RetryingClientTest, MoreCallsThanTheGateLetsInWaitInLine) {
  for (int i = 0; i < 6; ++i) Start();
  EXPECT_EQ(transport_->posts.size(), 4u);
  transport_->Answer(200, kGood);
  EXPECT_EQ(transport_->posts.size(), 4u);
  while (!transport_->posts.empty()) transport_->Answer(200, kGood);
  EXPECT_EQ(replies_.size(), 6u);
  EXPECT_TRUE(transport_->timers.empty());
}

TEST_F(RetryingClientTest, WhatTheServerCallsFinalIsFinal) {
  Start();
  transport_->Answer(
      HttpResponse{.status = 500, .headers = {{"x-should-retry", "false"}}, .body = "{}"});
  EXPECT_EQ(replies_.size(), 1u);
}

TEST_F(RetryingClientTest, AGateFullOfOthersIsLookedAtAgain) {
  for (int i = 0; i < 4; ++i) gate_->TryEnter(clock_.SteadyNow());
  Start();
  EXPECT_TRUE(transport_->posts.empty());
  FireTimer();
  EXPECT_TRUE(transport_->posts.empty());
  gate_->Leave(AttemptEnd::kAnswered, clock_.SteadyNow(), clock_.SteadyNow());
  FireTimer();
  EXPECT_EQ(transport_->posts.size(), 1u);
}

TEST_F(RetryingClientTest, ABrokenServerIsLeftAloneThenTriedByOneCall) {
  Start();
  Start();
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (int call = 0; call < 2; ++call) transport_->Answer(500, "oops");
    FireTimer();
    FireTimer();
  }
  transport_->Answer(500, "oops");  // the fifth in a row
  while (!transport_->posts.empty()) transport_->Answer(500, "oops");
  clock_.Advance(absl::Seconds(10));
  const size_t waiting = transport_->timers.size();
  for (size_t i = 0; i < waiting; ++i) transport_->Fire();
  EXPECT_TRUE(transport_->posts.empty());
  clock_.Advance(absl::Seconds(31));
  transport_->Fire();
  EXPECT_EQ(transport_->posts.size(), 1u);
  transport_->Answer(200, kGood);
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

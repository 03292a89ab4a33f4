#include "coordinator/llm/replay/replay_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

v1::RecordedCall Call(int64_t number, const std::string& prompt, const std::string& reply) {
  v1::RecordedCall call;
  call.set_number(number);
  call.set_purpose("action");
  call.set_node("tile");
  call.set_attempt(1);
  call.set_model("m");
  call.set_user(prompt);
  call.set_reply(reply);
  call.set_finish_reason("stop");
  call.set_input_tokens(10);
  return call;
}

std::shared_ptr<const Recording> Recorded(std::vector<v1::RecordedCall> calls) {
  auto recording = std::make_shared<Recording>();
  recording->header.set_run_id("old");
  recording->calls = std::move(calls);
  return recording;
}

absl::StatusOr<LlmReply> Ask(ReplayClient* client, const std::string& call_id,
                             const std::string& prompt, const std::string& model = "m") {
  LlmRequest request;
  request.call_id = call_id;
  request.model = model;
  request.user = prompt;
  request.max_output_tokens = 0;
  request.labels.purpose = "action";
  request.labels.node_id = "tile";
  std::promise<absl::StatusOr<LlmReply>> reply;
  client->Complete(request,
                   [&](absl::StatusOr<LlmReply> result) { reply.set_value(std::move(result)); });
  return reply.get_future().get();
}

TEST(ReplayClient, GivesTheReplyOfTheEqualRequest) {
  ReplayClient client(Recorded({Call(1, "a", "one"), Call(2, "b", "two")}));
  const auto reply = Ask(&client, "new/9", "b");
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->text, "two");
  EXPECT_EQ(reply->usage.input(), 10);
}

TEST(ReplayClient, EqualRequestsArePlayedByNumberElseInOrder) {
  ReplayClient client(Recorded({Call(1, "a", "one"), Call(5, "a", "five"), Call(7, "a", "seven")}));
  EXPECT_EQ(Ask(&client, "new/5", "a")->text, "five");
  EXPECT_EQ(Ask(&client, "new/5", "a")->text, "five") << "the same call of a later life";
  EXPECT_EQ(Ask(&client, "new/20", "a")->text, "one");
  EXPECT_EQ(Ask(&client, "new/21", "a")->text, "five");
  EXPECT_EQ(Ask(&client, "new/22", "a")->text, "seven");
  EXPECT_EQ(Ask(&client, "other/22", "a")->text, "one") << "another run starts anew";
  const auto none = Ask(&client, "new/23", "a");
  EXPECT_EQ(none.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("used up"));
}

TEST(ReplayClient, RecordedFailureIsTheSameFailure) {
  v1::RecordedCall failed = Call(1, "a", "");
  failed.set_error("OUT_OF_RANGE: the prompt is too long");
  ReplayClient client(Recorded({failed}));
  const auto reply = Ask(&client, "new/1", "a");
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(reply.status().message(), "the prompt is too long");
}

TEST(ReplayClient, MissShowsTheNearestRequestAndWhatDiffers) {
  ReplayClient client(
      Recorded({Call(1, "other text", "x"), Call(2, "line one\nthe latency is 12 us\nend", "y")}));
  const auto miss = Ask(&client, "new/2", "line one\nthe latency is 15 us\nend", "m2");
  EXPECT_EQ(miss.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string message(miss.status().message());
  EXPECT_THAT(message, HasSubstr("nearest is call 2 (action of node tile, attempt 1)"));
  EXPECT_THAT(message, HasSubstr("model: recorded 'm', asked 'm2'"));
  EXPECT_THAT(message, HasSubstr("line 2"));
  EXPECT_THAT(message, HasSubstr("the latency is 12 us"));
  EXPECT_THAT(message, HasSubstr("the latency is 15 us"));
}

TEST(Recording, LinesAreReadBack) {
  v1::RecordedLine header, call;
  header.mutable_header()->set_version(1);
  header.mutable_header()->set_run_id("r");
  header.mutable_header()->add_order("call/1");
  *call.mutable_call() = Call(1, "tab\t\"quote\" \xF0\x9F\x98\x80", "line\nline");
  const auto recording = ParseRecording(RecordingLine(header) + RecordingLine(call), "f");
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->header.order(0), "call/1");
  ASSERT_EQ(recording->calls.size(), 1u);
  EXPECT_EQ(recording->calls[0].SerializeAsString(), call.call().SerializeAsString());
}

TEST(Recording, FaultsNameTheLine) {
  const auto why = [](const std::string& text) {
    return std::string(ParseRecording(text, "f").status().message());
  };
  const std::string header = R"({"header":{"version":1}})"
                             "\n";
  EXPECT_THAT(why(""), HasSubstr("f: empty"));
  EXPECT_THAT(why("{}\n"), HasSubstr("f:1: the first line"));
  EXPECT_THAT(why(header + "{\"call\":\n"), HasSubstr("f:2: not a line"));
  EXPECT_THAT(why(header + header), HasSubstr("f:2: a second header"));
  EXPECT_THAT(why(R"({"header":{"version":9}})"), HasSubstr("version 9"));
}

}  // namespace
}  // namespace ksearch

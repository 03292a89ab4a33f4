// The streams that follow events, through a real server.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "coordinator/service/search_service.h"
#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FeedRpcsTest : public testing::Test {
 protected:
  explicit FeedRpcsTest(size_t limit = 4096) : feed_(limit) {
    store_.SetEventListener(
        [this](const std::vector<v1::FeedEntry>& entries) { feed_.Publish(entries); });
    for (const char* id : {"r1", "r2"}) {
      RunRow row;
      row.run_id = id;
      row.status.set_run_id(id);
      row.status.set_state(v1::RUN_STATE_RUNNING);
      EXPECT_TRUE(store_.CreateRun(row).ok());
    }
    SearchService::Parts parts = {};
    parts.store = &store_;
    parts.feed = &feed_;
    service_ = std::make_unique<SearchService>(parts);
    grpc::ServerBuilder builder;
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    stub_ = v1::SearchService::NewStub(server_->InProcessChannel({}));
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  }
  ~FeedRpcsTest() override {
    service_->Shutdown();
    server_->Shutdown();
  }

  void Tell(const std::string& run_id, const std::vector<std::string>& texts,
            v1::RunState state = v1::RUN_STATE_RUNNING) {
    StepCommit step;
    step.run_id = run_id;
    step.status.set_run_id(run_id);
    step.status.set_state(state);
    for (const std::string& text : texts) step.events.emplace_back().set_text(text);
    EXPECT_TRUE(store_.CommitStep(step).ok());
  }
  std::unique_ptr<grpc::ClientReader<v1::WatchRunReply>> Watch(int64_t after_seq = 0) {
    v1::WatchRunRequest request;
    request.set_run_id("r1");
    request.set_after_seq(after_seq);
    return stub_->WatchRun(&context_, request);
  }
  static std::string Text(const v1::FeedEntry& entry) {
    if (entry.has_fleet()) return entry.fleet().worker_id();
    if (!entry.has_run()) return absl::StrCat("stands at ", entry.cursor());
    return absl::StrCat(entry.cursor(), " ", entry.run().run_id(), " ", entry.run().event().text());
  }
  static std::string Next(grpc::ClientReader<v1::FeedEntry>* stream) {
    v1::FeedEntry entry;
    return stream->Read(&entry) ? Text(entry) : "ended";
  }

  FakeStore store_;
  EventFeed feed_;
  std::unique_ptr<SearchService> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::SearchService::Stub> stub_;
  grpc::ClientContext context_;
};

TEST_F(FeedRpcsTest, WatcherGetsTheStatusWhatWasAndWhatComesUntilTheEnd) {
  Tell("r1", {"a", "b"});
  const auto stream = Watch(/*after_seq=*/1);
  v1::WatchRunReply reply;
  ASSERT_TRUE(stream->Read(&reply));
  EXPECT_FALSE(reply.has_event());
  EXPECT_EQ(reply.status().run_id(), "r1");
  ASSERT_TRUE(stream->Read(&reply));
  EXPECT_EQ(reply.event().text(), "b");
  Tell("r2", {"another run's"});
  Tell("r1", {"c"});
  ASSERT_TRUE(stream->Read(&reply));
  EXPECT_EQ(reply.event().text(), "c");
  EXPECT_EQ(reply.status().last_event_seq(), 3);
  Tell("r1", {"d", "end"}, v1::RUN_STATE_FINISHED);
  ASSERT_TRUE(stream->Read(&reply));
  EXPECT_EQ(reply.event().text(), "d");
  ASSERT_TRUE(stream->Read(&reply));
  EXPECT_EQ(reply.event().text(), "end");
  EXPECT_EQ(reply.status().state(), v1::RUN_STATE_FINISHED);
  EXPECT_FALSE(stream->Read(&reply));
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(store_.run_reads(), 0) << "following reads no state of runs";
}

TEST_F(FeedRpcsTest, StreamOfAnEndedRunEndsAfterItsEvents) {
  Tell("r1", {"a", "end"}, v1::RUN_STATE_FINISHED);
  const auto stream = Watch();
  v1::WatchRunReply reply;
  std::vector<std::string> texts;
  while (stream->Read(&reply)) texts.push_back(reply.event().text());
  EXPECT_THAT(texts, ElementsAre("", "a", "end"));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(FeedRpcsTest, EarlierEndOfAResumedRunDoesNotEndTheStream) {
  Tell("r1", {"end"}, v1::RUN_STATE_STOPPED);
  Tell("r1", {"resumed"});
  const auto stream = Watch();
  v1::WatchRunReply reply;
  for (const char* text : {"", "end", "resumed"}) {
    ASSERT_TRUE(stream->Read(&reply));
    EXPECT_EQ(reply.event().text(), text);
  }
  Tell("r1", {"end again"}, v1::RUN_STATE_FINISHED);
  ASSERT_TRUE(stream->Read(&reply));
  EXPECT_EQ(reply.event().text(), "end again");
  EXPECT_FALSE(stream->Read(&reply));
}

TEST_F(FeedRpcsTest, ShutdownEndsStreams) {
  const auto stream = Watch();
  v1::WatchRunReply reply;
  ASSERT_TRUE(stream->Read(&reply));
  service_->Shutdown();
  EXPECT_FALSE(stream->Read(&reply));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(FeedRpcsTest, FeedGoesOnFromACursorAndThenFollows) {
  Tell("r1", {"a"});
  Tell("r2", {"b"});
  v1::WatchFeedRequest request;
  request.set_after(1);
  const auto stream = stub_->WatchFeed(&context_, request);
  EXPECT_EQ(Next(stream.get()), "stands at 1");
  EXPECT_EQ(Next(stream.get()), "2 r2 b");
  Tell("r1", {"c"});
  EXPECT_EQ(Next(stream.get()), "3 r1 c");
  v1::FleetEvent event;
  event.set_worker_id("w1");
  feed_.Publish(event);
  EXPECT_EQ(Next(stream.get()), "w1");
  context_.TryCancel();
}

TEST_F(FeedRpcsTest, FeedWithoutACursorBeginsNow) {
  Tell("r1", {"a"});
  v1::WatchFeedRequest request;
  request.set_without_fleet(true);
  const auto stream = stub_->WatchFeed(&context_, request);
  EXPECT_EQ(Next(stream.get()), "stands at 1");
  feed_.Publish(v1::FleetEvent());
  Tell("r1", {"b"});
  EXPECT_EQ(Next(stream.get()), "2 r1 b");
  context_.TryCancel();
}

TEST_F(FeedRpcsTest, NegativeCursorIsRefused) {
  v1::WatchFeedRequest request;
  request.set_after(-1);
  const auto stream = stub_->WatchFeed(&context_, request);
  EXPECT_EQ(Next(stream.get()), "ended");
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), testing::HasSubstr("after"));
}

// Everything that waits for a reader is dropped at once.
class SlowReaderTest : public FeedRpcsTest {
 protected:
  SlowReaderTest() : FeedRpcsTest(/*limit=*/1) {}
};

TEST_F(SlowReaderTest, MissesNoEventOfARun) {
  const auto stream = Watch();
  v1::WatchRunReply reply;
  ASSERT_TRUE(stream->Read(&reply));
  constexpr int kSteps = 200;
  for (int i = 0; i < kSteps; ++i) Tell("r1", {"x", "y"});
  Tell("r1", {"end"}, v1::RUN_STATE_FINISHED);
  std::vector<int64_t> seqs;
  while (stream->Read(&reply)) seqs.push_back(reply.event().seq());
  ASSERT_EQ(seqs.size(), 2u * kSteps + 1);
  for (size_t i = 0; i < seqs.size(); ++i) EXPECT_EQ(seqs[i], static_cast<int64_t>(i) + 1);
}

TEST_F(SlowReaderTest, OfTheFeedMissesNoEventOfARunAndIsToldOfOthers) {
  v1::WatchFeedRequest request;
  request.set_after(0);
  const auto stream = stub_->WatchFeed(&context_, request);
  EXPECT_EQ(Next(stream.get()), "stands at 0");
  constexpr int kSteps = 200;
  for (int i = 0; i < kSteps; ++i) {
    Tell(i % 2 == 0 ? "r1" : "r2", {"x"});
    feed_.Publish(v1::FleetEvent());
  }
  v1::FeedEntry entry;
  int64_t cursor = 0;
  int fleet = 0;
  bool missed = false;
  while (cursor < kSteps && stream->Read(&entry)) {
    missed |= entry.missed();
    if (entry.has_fleet()) ++fleet;
    if (!entry.has_run()) continue;
    EXPECT_EQ(entry.cursor(), cursor + 1);
    cursor = entry.cursor();
  }
  EXPECT_EQ(cursor, kSteps);
  if (fleet + 1 < kSteps) {
    EXPECT_TRUE(missed);
  }
  context_.TryCancel();
}

}  // namespace
}  // namespace ksearch

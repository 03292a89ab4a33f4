#include "coordinator/dashboard/event_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/fake_store.h"

namespace ksearch::dashboard {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class KeptStream final : public EventStream {
 public:
  bool Send(std::shared_ptr<const std::string> bytes) override {
    MutexLock lock(&mu_);
    text_ += *bytes;
    return !closed_;
  }
  bool closed() const override { return closed_; }
  void Close() override { closed_ = true; }
  std::string text() const {
    MutexLock lock(&mu_);
    return text_;
  }
  bool Has(const std::string& part) const { return text().find(part) != std::string::npos; }

 private:
  mutable Mutex mu_;
  std::string text_ ABSL_GUARDED_BY(mu_);
  std::atomic<bool> closed_{false};
};

class EventStreamsTest : public testing::Test {
 protected:
  EventStreamsTest() {
    store_.SetEventListener(
        [this](const std::vector<v1::FeedEntry>& entries) { feed_.Publish(entries); });
    for (const char* id : {"r1", "r2"}) {
      RunRow row;
      row.run_id = id;
      row.status.set_run_id(id);
      EXPECT_TRUE(store_.CreateRun(row).ok());
    }
  }
  void Begin(EventStreams::Options options = {}) {
    streams_ = std::make_unique<EventStreams>(
        options, &feed_,
        [this](int64_t after, int limit) { return store_.ReadAllEvents(after, limit); },
        [this] { return store_.ReadNewestCursor(); },
        [this](const std::string&) -> absl::Status {
          return token_good_ ? absl::OkStatus() : absl::UnauthenticatedError("revoked");
        });
  }
  std::shared_ptr<KeptStream> Open(EventStreams::Reader reader) {
    auto stream = std::make_shared<KeptStream>();
    streams_->Open(std::move(reader)).stream(stream);
    return stream;
  }
  void Tell(const std::string& run_id, const std::string& text) {
    StepCommit step;
    step.run_id = run_id;
    step.status.set_run_id(run_id);
    step.events.emplace_back().set_text(text);
    EXPECT_TRUE(store_.CommitStep(step).ok());
  }

  FakeStore store_;
  EventFeed feed_;
  std::atomic<bool> token_good_{true};
  std::unique_ptr<EventStreams> streams_;
};

TEST_F(EventStreamsTest, SendsWhatHappensFromNowOn) {
  Begin();
  Tell("r1", "long ago");
  const auto stream = Open({});
  Tell("r1", "first");
  v1::FleetEvent event;
  event.set_kind(v1::FleetEvent::WORKER_JOINED);
  feed_.Publish(event);
  ASSERT_TRUE(Eventually([&] { return stream->Has("WORKER_JOINED"); }));
  EXPECT_THAT(stream->text(), StartsWith("event: stand\ndata: {\"cursor\": \"1\"}\n\n"
                                         "id: 2\nevent: entry\ndata: {"));
  EXPECT_THAT(stream->text(), HasSubstr("first"));
  EXPECT_THAT(stream->text(), Not(HasSubstr("long ago")));
  EXPECT_EQ(streams_->readers(), 1);
}

TEST_F(EventStreamsTest, OneRunOnlyIfAskedFor) {
  Begin();
  const auto stream = Open({.run_id = "r2", .after = {}, .token_id = ""});
  Tell("r1", "other");
  Tell("r2", "own");
  ASSERT_TRUE(Eventually([&] { return stream->Has("own"); }));
  EXPECT_THAT(stream->text(), Not(HasSubstr("other")));
}

TEST_F(EventStreamsTest, CatchesUpWithoutGapOrRepetition) {
  Begin();
  for (int i = 1; i <= 5; ++i) Tell("r1", absl::StrCat("event ", i));
  const auto stream = Open({.run_id = "", .after = 2, .token_id = ""});
  Tell("r1", "event 6");
  ASSERT_TRUE(Eventually([&] { return stream->Has("event 6"); }));
  std::string rest = stream->text();
  EXPECT_THAT(rest, StartsWith("event: stand\ndata: {\"cursor\": \"2\"}\n\n"));
  for (int i = 3; i <= 6; ++i) {
    const size_t at = rest.find(absl::StrCat("id: ", i, "\n"));
    ASSERT_NE(at, std::string::npos) << i;
    rest = rest.substr(at + 1);
  }
  EXPECT_THAT(rest, Not(HasSubstr("\nid: ")));
  EXPECT_THAT(stream->text(), Not(HasSubstr("event 2")));
}

TEST_F(EventStreamsTest, WhoMissedTooMuchIsToldToLookAgain) {
  Begin({.most_to_catch_up = 2});
  for (int i = 1; i <= 3; ++i) Tell("r1", absl::StrCat("event ", i));
  const auto stream = Open({.run_id = "", .after = 0, .token_id = ""});
  EXPECT_THAT(stream->text(), HasSubstr("event: missed"));
  EXPECT_THAT(stream->text(), Not(HasSubstr("event 1")));
  Tell("r1", "event 4");
  EXPECT_TRUE(Eventually([&] { return stream->Has("event 4"); }));
}

TEST_F(EventStreamsTest, ACommentShowsThatItLives) {
  Begin({.heartbeat = absl::Milliseconds(1)});
  const auto stream = Open({});
  EXPECT_TRUE(Eventually([&] { return stream->Has(": still here\n\n"); }));
}

TEST_F(EventStreamsTest, EndsWithItsTokenAndForgetsWhoLeft) {
  Begin();
  const auto with_token = Open({.run_id = "", .after = {}, .token_id = "abc"});
  const auto without = Open({});
  const auto leaves = Open({});
  EXPECT_EQ(streams_->readers(), 3);
  leaves->Close();
  EXPECT_TRUE(Eventually([&] { return streams_->readers() == 2; }));
  token_good_ = false;
  EXPECT_TRUE(Eventually([&] { return with_token->closed(); }));
  EXPECT_FALSE(without->closed());
}

TEST_F(EventStreamsTest, EndsWithTheFeed) {
  Begin();
  const auto stream = Open({});
  feed_.Close();
  EXPECT_TRUE(Eventually([&] { return stream->closed(); }));
  EXPECT_TRUE(Open({})->closed());
}

}  // namespace
}  // namespace ksearch::dashboard

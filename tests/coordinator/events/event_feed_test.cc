#include "coordinator/events/event_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

v1::FeedEntry OfRun(int64_t cursor, const std::string& run_id) {
  v1::FeedEntry entry;
  entry.set_cursor(cursor);
  entry.mutable_run()->set_run_id(run_id);
  return entry;
}

v1::FleetEvent Joined(const std::string& worker_id) {
  v1::FleetEvent event;
  event.set_kind(v1::FleetEvent::WORKER_JOINED);
  event.set_worker_id(worker_id);
  return event;
}

std::vector<std::string> Names(const EventFeed::Batch& batch) {
  std::vector<std::string> names;
  for (const auto& entry : batch.entries) {
    names.push_back(entry->has_fleet() ? entry->fleet().worker_id()
                                       : absl::StrCat(entry->cursor(), entry->run().run_id()));
  }
  return names;
}

TEST(EventFeedTest, EverybodyGetsWhatTheyAskedFor) {
  EventFeed feed;
  const auto one = feed.Subscribe({.runs = true, .run_id = "a", .fleet = false});
  const auto runs = feed.Subscribe({.runs = true, .run_id = "", .fleet = false});
  const auto fleet = feed.Subscribe({.runs = false, .run_id = "", .fleet = true});
  const auto all = feed.Subscribe({.runs = true, .run_id = "", .fleet = true});
  feed.Publish({OfRun(1, "a"), OfRun(2, "a")});
  feed.Publish(Joined("w"));
  feed.Publish({OfRun(3, "b")});
  EXPECT_THAT(Names(one->Next(absl::ZeroDuration())), ElementsAre("1a", "2a"));
  EXPECT_THAT(Names(runs->Next(absl::ZeroDuration())), ElementsAre("1a", "2a", "3b"));
  EXPECT_THAT(Names(fleet->Next(absl::ZeroDuration())), ElementsAre("w"));
  EXPECT_THAT(Names(all->Next(absl::ZeroDuration())), ElementsAre("1a", "2a", "w", "3b"));
  EXPECT_THAT(Names(all->Next(absl::ZeroDuration())), IsEmpty());
}

TEST(EventFeedTest, NothingFromBeforeOrAfterTheSubscription) {
  EventFeed feed;
  feed.Publish({OfRun(1, "a")});
  auto all = feed.Subscribe({.runs = true, .run_id = "", .fleet = false});
  EXPECT_THAT(Names(all->Next(absl::ZeroDuration())), IsEmpty());
  all.reset();
  feed.Publish({OfRun(2, "a")});
}

TEST(EventFeedTest, SlowOneIsToldThatItMissedSomething) {
  EventFeed feed(/*limit=*/2);
  const auto slow = feed.Subscribe({.runs = true, .run_id = "", .fleet = false});
  feed.Publish({OfRun(1, "a"), OfRun(2, "a")});
  EXPECT_FALSE(slow->Next(absl::ZeroDuration()).missed);
  feed.Publish({OfRun(3, "a"), OfRun(4, "a"), OfRun(5, "a")});
  const EventFeed::Batch batch = slow->Next(absl::ZeroDuration());
  EXPECT_TRUE(batch.missed);
  EXPECT_THAT(Names(batch), ElementsAre("5a"));
  EXPECT_FALSE(slow->Next(absl::ZeroDuration()).missed);
}

TEST(EventFeedTest, WaitEndsWithAnEntryAndWithTheFeed) {
  EventFeed feed;
  const auto all = feed.Subscribe({.runs = true, .run_id = "", .fleet = false});
  std::thread publisher([&] { feed.Publish({OfRun(1, "a")}); });
  EXPECT_THAT(Names(all->Next(absl::Seconds(60))), ElementsAre("1a"));
  publisher.join();
  std::thread closer([&] { feed.Close(); });
  EXPECT_TRUE(all->Next(absl::Seconds(60)).closed);
  closer.join();
  EXPECT_TRUE(
      feed.Subscribe({.runs = true, .run_id = "", .fleet = true})->Next(absl::Seconds(60)).closed);
}

TEST(EventFeedTest, ListenerHearsEverything) {
  EventFeed feed;
  std::vector<int64_t> heard;
  feed.SetListener([&](const v1::FeedEntry& entry) { heard.push_back(entry.cursor()); });
  feed.Publish({OfRun(1, "a"), OfRun(2, "b")});
  feed.Publish(Joined("w"));
  EXPECT_THAT(heard, ElementsAre(1, 2, 0));
}

}  // namespace
}  // namespace ksearch

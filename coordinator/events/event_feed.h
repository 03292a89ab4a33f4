#ifndef KSEARCH_COORDINATOR_EVENTS_EVENT_FEED_H_
#define KSEARCH_COORDINATOR_EVENTS_EVENT_FEED_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/mutex.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Delivers the events of runs and of the fleet to every subscriber. Keeps no history: a subscriber
// that joins late or falls behind reads the runs' events from the store. Thread-safe.
class EventFeed {
 public:
  // The entries that a subscriber wants.
  struct Interest {
    bool runs = false;
    std::string run_id;  // with `runs`: of this one only; empty: of all
    bool fleet = false;
  };
  struct Batch {
    std::vector<std::shared_ptr<const v1::FeedEntry>> entries;  // oldest first
    // Earlier entries were dropped because the subscriber was too slow.
    bool missed = false;
    bool closed = false;  // nothing more will come
  };
  class Subscription;

  // `limit`: the most entries that wait for one subscriber.
  explicit EventFeed(size_t limit = 4096) : limit_(limit) {}
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  // Called for every entry before subscribers get it, on the publishing thread, for counting; must
  // not block. Set before use.
  void SetListener(std::function<void(const v1::FeedEntry&)> listener) {
    listener_ = std::move(listener);
  }

  // Entries published from now on. The feed must outlive it.
  std::unique_ptr<Subscription> Subscribe(const Interest& interest);

  // Never blocks for long: listeners of the store and the scheduler call this.
  void Publish(const std::vector<v1::FeedEntry>& entries);
  void Publish(v1::FleetEvent event);

  // Ends all waits, current and future ones.
  void Close();

 private:
  void Forget(Subscription* subscription, const Interest& interest);
  void Hand(const std::shared_ptr<const v1::FeedEntry>& entry,
            const std::set<Subscription*>& subscriptions) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const size_t limit_;
  std::function<void(const v1::FeedEntry&)> listener_;  // set before use

  Mutex mu_;  // before a subscription's own
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  // By run; "" follows all of them.
  std::map<std::string, std::set<Subscription*>> of_runs_ ABSL_GUARDED_BY(mu_);
  std::set<Subscription*> of_fleet_ ABSL_GUARDED_BY(mu_);
};

// One follower of the feed. For one thread at a time.
class EventFeed::Subscription {
 public:
  ~Subscription() { feed_->Forget(this, interest_); }
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  // The entries since the last call; waits up to `timeout` for the first.
  Batch Next(absl::Duration timeout);

 private:
  friend class EventFeed;
  Subscription(EventFeed* feed, Interest interest, size_t limit)
      : feed_(feed), interest_(std::move(interest)), limit_(limit) {}
  void Add(const std::shared_ptr<const v1::FeedEntry>& entry);
  void Close();

  EventFeed* const feed_;
  const Interest interest_;
  const size_t limit_;

  Mutex mu_;
  CondVar changed_;
  Batch waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_EVENTS_EVENT_FEED_H_

#include "coordinator/events/event_feed.h"

#include <utility>

namespace ksearch {

std::unique_ptr<EventFeed::Subscription> EventFeed::Subscribe(const Interest& interest) {
  // make_unique cannot call the private constructor.
  std::unique_ptr<Subscription> subscription(new Subscription(this, interest, limit_));
  MutexLock lock(&mu_);
  if (closed_) subscription->Close();
  if (interest.runs) of_runs_[interest.run_id].insert(subscription.get());
  if (interest.fleet) of_fleet_.insert(subscription.get());
  return subscription;
}

void EventFeed::Forget(Subscription* subscription, const Interest& interest) {
  MutexLock lock(&mu_);
  of_fleet_.erase(subscription);
  const auto it = of_runs_.find(interest.run_id);
  if (it == of_runs_.end()) return;
  it->second.erase(subscription);
  if (it->second.empty()) of_runs_.erase(it);
}

void EventFeed::Publish(const std::vector<v1::FeedEntry>& entries) {
  for (const v1::FeedEntry& entry : entries) {
    if (listener_) listener_(entry);
    MutexLock lock(&mu_);
    const auto one = of_runs_.find(entry.run().run_id());
    const auto all = of_runs_.find("");
    if (one == of_runs_.end() && all == of_runs_.end()) continue;
    const auto shared = std::make_shared<const v1::FeedEntry>(entry);
    if (one != of_runs_.end()) Hand(shared, one->second);
    if (all != of_runs_.end()) Hand(shared, all->second);
  }
}

void EventFeed::Publish(v1::FleetEvent event) {
  v1::FeedEntry entry;
  *entry.mutable_fleet() = std::move(event);
  if (listener_) listener_(entry);
  MutexLock lock(&mu_);
  if (of_fleet_.empty()) return;
  Hand(std::make_shared<const v1::FeedEntry>(std::move(entry)), of_fleet_);
}

void EventFeed::Hand(const std::shared_ptr<const v1::FeedEntry>& entry,
                     const std::set<Subscription*>& subscriptions) const {
  for (Subscription* subscription : subscriptions) subscription->Add(entry);
}

void EventFeed::Close() {
  MutexLock lock(&mu_);
  closed_ = true;
  for (const auto& [run_id, subscriptions] : of_runs_) {
    for (Subscription* subscription : subscriptions) subscription->Close();
  }
  for (Subscription* subscription : of_fleet_) subscription->Close();
}

void EventFeed::Subscription::Add(const std::shared_ptr<const v1::FeedEntry>& entry) {
  MutexLock lock(&mu_);
  if (waiting_.entries.size() >= limit_) {
    waiting_.entries.clear();
    waiting_.missed = true;
  }
  waiting_.entries.push_back(entry);
  changed_.NotifyAll();
}

void EventFeed::Subscription::Close() {
  MutexLock lock(&mu_);
  waiting_.closed = true;
  changed_.NotifyAll();
}

EventFeed::Batch EventFeed::Subscription::Next(absl::Duration timeout) {
  MutexLock lock(&mu_);
  while (waiting_.entries.empty() && !waiting_.closed) {
    if (!changed_.WaitFor(&mu_, timeout)) break;
  }
  const bool closed = waiting_.closed;
  Batch batch = std::exchange(waiting_, Batch());
  waiting_.closed = closed;
  return batch;
}

}  // namespace ksearch

#ifndef KSEARCH_COORDINATOR_DASHBOARD_EVENT_STREAMS_H_
#define KSEARCH_COORDINATOR_DASHBOARD_EVENT_STREAMS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/mutex.h"
#include "coordinator/dashboard/http/http_message.h"
#include "coordinator/events/event_feed.h"
#include "proto/search_service.pb.h"

namespace ksearch::dashboard {

// The event feed as server-sent events, for any number of open pages: each entry is serialized once
// for all readers, and entries of the same moment are sent together. Messages:
//   event: stand   data: {"cursor": "N"}   first; the entries that follow are beyond N
//   event: entry   data: a FeedEntry as JSON; id: its cursor, if it has one
//   event: missed  data: {}   entries were lost: look at everything again
// and a comment now and then, so that both ends notice when the other has gone. Thread-safe.
class EventStreams {
 public:
  struct Options {
    absl::Duration heartbeat = absl::Seconds(15);
    // Entries that arrive within this time after a write are sent together, because with many open
    // pages every separate write costs one write per page. An entry after a pause is sent at once.
    absl::Duration gathering = absl::Milliseconds(100);
    // Events that a reader may catch up on when it reconnects; a reader that missed more gets
    // "missed".
    int most_to_catch_up = 1000;
  };
  // As Store::ReadAllEvents and Store::ReadNewestCursor. Both may block.
  using ReadEvents =
      std::function<absl::StatusOr<std::vector<v1::FeedEntry>>(int64_t after, int limit)>;
  using NewestCursor = std::function<absl::StatusOr<int64_t>()>;
  struct Reader {
    std::string run_id;            // only events of this run and of the fleet; empty: of all runs
    std::optional<int64_t> after;  // cursor to catch up from; absent: start now
    std::string token_id;          // token of the request; empty if there is none
  };

  // `feed` must outlive this object. `still_good` is as in DashboardAccess and may be null.
  EventStreams(Options options, EventFeed* feed, ReadEvents read, NewestCursor newest,
               std::function<absl::Status(const std::string&)> still_good);
  // Drops every stream. The server that carries them must have stopped.
  ~EventStreams();
  EventStreams(const EventStreams&) = delete;
  EventStreams& operator=(const EventStreams&) = delete;

  // Returns the response that carries the events. Safe to call from several threads.
  HttpAnswer Open(Reader reader);
  // Number of open streams.
  int readers() const;

 private:
  struct Listener {
    Reader reader;
    std::shared_ptr<EventStream> stream;
    // Entries that arrived while the reader caught up; they follow what it catches up on.
    bool catching_up = true;
    int64_t stand = 0;  // cursor up to which it has all run events; set once it has caught up
    bool missed = false;
    std::vector<std::pair<int64_t, std::shared_ptr<const std::string>>> held;
  };

  void Begin(const Reader& reader, std::shared_ptr<EventStream> stream);
  // Sends the entries up to `newest` that the reader missed. Returns false if there are too many of
  // them.
  absl::StatusOr<bool> CatchUp(const Reader& reader, int64_t newest, EventStream* stream);
  void Loop();
  void Distribute(const EventFeed::Batch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReviewListeners() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  const ReadEvents read_;
  const NewestCursor newest_;
  const std::function<absl::Status(const std::string&)> still_good_;
  const std::unique_ptr<EventFeed::Subscription> subscription_;

  mutable Mutex mu_;
  CondVar ends_;  // signaled when closing_ is set
  std::vector<std::shared_ptr<Listener>> listeners_ ABSL_GUARDED_BY(mu_);
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  absl::Time last_beat_ ABSL_GUARDED_BY(mu_);  // monotonic clock
  std::thread thread_;
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_EVENT_STREAMS_H_

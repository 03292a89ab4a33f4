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
    // Entries that come within this time after a write are sent together: many open pages cost
    // a write each for all of it. An entry after a quiet time is sent at once.
    absl::Duration gathering = absl::Milliseconds(100);
    // How many events a reader that reconnects may catch up on; one that missed more gets "missed".
    int most_to_catch_up = 1000;
  };
  // As Store::ReadAllEvents and Store::ReadNewestCursor; may block.
  using ReadEvents =
      std::function<absl::StatusOr<std::vector<v1::FeedEntry>>(int64_t after, int limit)>;
  using NewestCursor = std::function<absl::StatusOr<int64_t>()>;
  struct Reader {
    std::string run_id;            // events of this run and of the fleet only; empty: of all runs
    std::optional<int64_t> after;  // a cursor to catch up from; absent: from now on
    std::string token_id;          // with which it came; empty: without
  };

  // `feed` outlives it. `still_good` as in DashboardAccess, may be null.
  EventStreams(Options options, EventFeed* feed, ReadEvents read, NewestCursor newest,
               std::function<absl::Status(const std::string&)> still_good);
  // Drops every stream; call after the server that carries them has stopped.
  ~EventStreams();
  EventStreams(const EventStreams&) = delete;
  EventStreams& operator=(const EventStreams&) = delete;

  // The answer that carries the events; may be called by several threads.
  HttpAnswer Open(Reader reader);
  // Pages that read now.
  int readers() const;

 private:
  struct Listener {
    Reader reader;
    std::shared_ptr<EventStream> stream;
    // Entries that came while it catches up; they follow what it catches up on.
    bool catching_up = true;
    int64_t stand = 0;  // it has all run events up to here; set when it has caught up
    bool missed = false;
    std::vector<std::pair<int64_t, std::shared_ptr<const std::string>>> held;
  };

  void Begin(const Reader& reader, std::shared_ptr<EventStream> stream);
  // Sends the entries up to `newest` that the reader missed; false: there are too many of them.
  absl::StatusOr<bool> CatchUp(const Reader& reader, int64_t newest, EventStream* stream);
  void Loop();
  void HandOut(const EventFeed::Batch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReviewListeners() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  const ReadEvents read_;
  const NewestCursor newest_;
  const std::function<absl::Status(const std::string&)> still_good_;
  const std::unique_ptr<EventFeed::Subscription> subscription_;

  mutable Mutex mu_;
  CondVar ends_;  // closing_ was set
  std::vector<std::shared_ptr<Listener>> listeners_ ABSL_GUARDED_BY(mu_);
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  absl::Time last_beat_ ABSL_GUARDED_BY(mu_);  // steady
  std::thread thread_;
};

}  // namespace ksearch::dashboard

#endif  // KSEARCH_COORDINATOR_DASHBOARD_EVENT_STREAMS_H_

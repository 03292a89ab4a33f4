#ifndef KSEARCH_COORDINATOR_EVENTS_SINKS_EVENT_SINK_H_
#define KSEARCH_COORDINATOR_EVENTS_SINKS_EVENT_SINK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "coordinator/events/event_feed.h"
#include "coordinator/events/sinks/disk_run_files.h"
#include "coordinator/events/sinks/run_recorder.h"
#include "proto/config.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch::sinks {

// What a sink reads from the store. Each function may block and may be called on the sink's thread.
struct EventReader {
  std::function<absl::StatusOr<std::vector<v1::FeedEntry>>(int64_t after_cursor, int limit)> feed;
  std::function<absl::StatusOr<int64_t>()> newest_cursor;
  std::function<absl::StatusOr<std::vector<v1::RunEvent>>(const std::string& run_id)> events;
  std::function<absl::StatusOr<v1::RunConfig>(const std::string& run_id)> config;
  std::function<absl::StatusOr<v1::Sources>(const std::string& run_id,
                                            const std::string& candidate_id)>
      sources;
  std::function<absl::StatusOr<v1::WorldModel>(const std::string& run_id)> world_model;
};

// Follows the events of all runs on its own thread and writes them with one recorder per run. Never
// blocks a search: a write that fails is logged once and retried from the same place. Its progress
// is kept in a file, so that nothing is missed or written twice after restarts and crashes.
// Thread-safe.
class EventSink {
 public:
  struct Options {
    v1::SinkConfig config;                          // with its defaults
    std::string cursor_path;                        // of the file with its progress
    absl::Duration first_retry = absl::Seconds(1);  // doubled up to a minute
    absl::Duration save_interval = absl::Seconds(1);
  };
  // Starts at once. `feed` must outlive it.
  EventSink(Options options, EventFeed* feed, EventReader reader, const Clock& clock);
  // Writes everything that is in the store by now, if possible.
  ~EventSink();
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;

  v1::SinkFacts Facts() const;

 private:
  // An active run, and how much of it is written.
  struct OpenRun {
    std::unique_ptr<RunRecorder> recorder;
    std::unique_ptr<DiskRunFiles> files;
    int64_t last_seq = 0;
  };

  void Loop();
  absl::StatusOr<int64_t> ReadCursor() const;
  absl::Status CatchUp();
  absl::Status Take(const v1::FeedEntry& entry);
  absl::StatusOr<OpenRun> Open(const std::string& run_id, int64_t before_seq);
  // Syncs everything that was processed to disk, and records that in the cursor's file.
  absl::Status Save();
  // Waits; returns false once the sink is to end.
  bool Wait(absl::Duration time);
  void SetFault(const absl::Status& status);

  // Constant after construction.
  const Options options_;
  EventFeed* const feed_;
  const EventReader reader_;
  const Clock& clock_;

  // Used only by the thread.
  std::map<std::string, OpenRun> runs_;
  int64_t cursor_ = 0;
  int64_t saved_cursor_ = -1;  // -1: none is known
  absl::Time saved_at_ = absl::InfinitePast();

  mutable Mutex mu_;
  CondVar changed_;
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  int64_t shown_cursor_ ABSL_GUARDED_BY(mu_) = 0;
  std::string fault_ ABSL_GUARDED_BY(mu_);

  std::thread thread_;  // last: uses all of the above
};

}  // namespace ksearch::sinks

#endif  // KSEARCH_COORDINATOR_EVENTS_SINKS_EVENT_SINK_H_

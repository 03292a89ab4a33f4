#ifndef KSEARCH_TESTS_COORDINATOR_EVENTS_SINKS_SAMPLE_RUNS_H_
#define KSEARCH_TESTS_COORDINATOR_EVENTS_SINKS_SAMPLE_RUNS_H_

#include <map>
#include <string>
#include <vector>

#include "common/mutex.h"
#include "coordinator/events/event_feed.h"
#include "coordinator/events/sinks/event_sink.h"

namespace ksearch::sinks {

// A store's view of some runs, in memory. Thread-safe.
class SampleRuns {
 public:
  explicit SampleRuns(EventFeed* feed) : feed_(feed) {}

  // Appends the event, with a time and a number, and tells the feed.
  void Add(const std::string& run_id, v1::RunEvent event);
  // A search: `rounds` candidates, of which every third fails and the first two that pass are
  // confirmed. It ends unless `goes_on`.
  void AddSearch(const std::string& run_id, int rounds, bool goes_on = false);
  // Sets every text of a run that a model or a task's author decides.
  void SetText(const std::string& text) { text_ = text; }

  EventReader Reader() const;
  int64_t newest() const;
  int reads_of_events() const;

 private:
  EventFeed* const feed_;
  std::string text_ = "loop order";

  mutable Mutex mu_;
  std::vector<v1::FeedEntry> entries_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::vector<v1::RunEvent>> events_ ABSL_GUARDED_BY(mu_);
  mutable int reads_of_events_ ABSL_GUARDED_BY(mu_) = 0;
};

// The id of candidate "<name>".
std::string SampleId(const std::string& name);
v1::RunConfig SampleConfig();

}  // namespace ksearch::sinks

#endif  // KSEARCH_TESTS_COORDINATOR_EVENTS_SINKS_SAMPLE_RUNS_H_

// usage: sink_samples FOLDER: writes the files of every kind of sink for three runs to
// FOLDER/<kind>: a search that ended ("a"), one that was resumed ("b") and one in progress ("c").
// Other programs read them.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "coordinator/events/sinks/sink_table.h"
#include "tests/coordinator/events/sinks/sample_runs.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: sink_samples FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  ksearch::EventFeed feed;
  ksearch::sinks::SampleRuns runs(&feed);
  runs.AddSearch("a", 400);  // more than a block of W&B's log
  runs.AddSearch("b", 3);
  ksearch::v1::RunEvent resumed;
  resumed.set_kind(ksearch::v1::RunEvent::RUN_RESUMED);
  runs.Add("b", resumed);
  runs.AddSearch("b", 2);
  runs.AddSearch("c", 3, /*goes_on=*/true);
  for (const std::string& kind : ksearch::sinks::SinkKinds()) {
    ksearch::sinks::EventSink::Options options;
    options.config.set_kind(kind);
    options.config.set_folder(absl::StrCat(folder, "/", kind));
    options.config = ksearch::sinks::WithDefaults(options.config, folder);
    options.cursor_path = absl::StrCat(folder, "/", kind, ".cursor");
    const ksearch::sinks::EventSink sink(options, &feed, runs.Reader(), ksearch::Clock::Real());
  }
  return 0;
}

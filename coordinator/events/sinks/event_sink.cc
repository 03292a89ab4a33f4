#include "coordinator/events/sinks/event_sink.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/events/sinks/sink_table.h"

namespace ksearch::sinks {
namespace {

constexpr int kBatch = 500;
constexpr absl::Duration kLookInterval = absl::Milliseconds(200);
constexpr absl::Duration kLongestRetry = absl::Minutes(1);
constexpr int64_t kMostCursorBytes = 64 << 10;
// Number of runs that are open at once; beyond that the least recently used run is closed, and
// opened again for its next event.
constexpr size_t kMostOpenRuns = 256;

// The place that the cursor belongs to: another place starts from the beginning.
std::string Place(const v1::SinkConfig& config) {
  return absl::StrCat(config.kind(), "\n", config.folder(), "\n");
}

}  // namespace

EventSink::EventSink(Options options, EventFeed* feed, EventReader reader, const Clock& clock)
    : options_(std::move(options)),
      feed_(feed),
      reader_(std::move(reader)),
      clock_(clock),
      thread_([this] { Loop(); }) {}

EventSink::~EventSink() {
  {
    MutexLock lock(&mu_);
    closing_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

v1::SinkFacts EventSink::Facts() const {
  v1::SinkFacts facts;
  facts.set_name(options_.config.name());
  facts.set_kind(options_.config.kind());
  facts.set_folder(options_.config.folder());
  MutexLock lock(&mu_);
  facts.set_cursor(shown_cursor_);
  facts.set_fault(fault_);
  return facts;
}

void EventSink::SetFault(const absl::Status& status) {
  const std::string text(status.message());
  MutexLock lock(&mu_);
  if (status.ok() && !fault_.empty()) {
    LOG(INFO) << "msg=\"the sink writes again\" sink=" << options_.config.name();
  } else if (!status.ok() && fault_.empty()) {
    LOG(WARNING) << "msg=\"the sink cannot write; runs continue, and it tries again\" sink="
                 << options_.config.name() << " why=\"" << text << "\"";
  }
  fault_ = text;
}

bool EventSink::Wait(absl::Duration time) {
  const absl::Time end = clock_.SteadyNow() + time;
  MutexLock lock(&mu_);
  while (!closing_) {
    const absl::Duration left = end - clock_.SteadyNow();
    if (left <= absl::ZeroDuration()) break;
    changed_.WaitFor(&mu_, left);
  }
  return !closing_;
}

void EventSink::Loop() {
  // Subscribes before the store is read, so that no event is lost in between.
  const auto bell = feed_->Subscribe({.runs = true, .run_id = "", .fleet = false});
  absl::Duration retry = options_.first_retry;
  bool begun = false;
  for (;;) {
    absl::Status status;
    if (!begun) {
      // A folder that cannot be used is reported now, not with the first run.
      status = MakeFolderOf(absl::StrCat(options_.config.folder(), "/."));
      const auto cursor = ReadCursor();
      if (status.ok()) status = cursor.status();
      begun = status.ok();
      if (begun) cursor_ = *cursor;
    }
    if (status.ok()) status = CatchUp();
    SetFault(status);
    if (!status.ok()) {
      // A write may be incomplete: compare everything again.
      runs_.clear();
      if (!Wait(retry)) return;
      retry = std::min(retry * 2, kLongestRetry);
      continue;
    }
    retry = options_.first_retry;
    for (;;) {
      const EventFeed::Batch batch = bell->Next(kLookInterval);
      // The feed ends first; what is committed after that is read from the store.
      while (batch.closed && Wait(kLookInterval)) {
      }
      if (!Wait(absl::ZeroDuration())) {
        SetFault(CatchUp());
        return;
      }
      if (!batch.entries.empty()) break;
      if (cursor_ != saved_cursor_ && clock_.SteadyNow() - saved_at_ >= options_.save_interval) {
        break;
      }
    }
  }
}

absl::StatusOr<int64_t> EventSink::ReadCursor() const {
  const auto text = ReadFile(options_.cursor_path, kMostCursorBytes);
  if (absl::IsNotFound(text.status())) return 0;
  RETURN_IF_ERROR(text.status());
  absl::string_view rest = *text;
  int64_t cursor = 0;
  if (!absl::ConsumePrefix(&rest, Place(options_.config)) || !absl::SimpleAtoi(rest, &cursor) ||
      cursor < 0) {
    LOG(INFO) << "msg=\"the sink begins with the first run\" sink=" << options_.config.name()
              << " folder=" << options_.config.folder();
    return 0;
  }
  // The store may be an older copy than the one that this was written with.
  ASSIGN_OR_RETURN(const int64_t newest, reader_.newest_cursor());
  return cursor > newest ? 0 : cursor;
}

absl::Status EventSink::CatchUp() {
  for (;;) {
    ASSIGN_OR_RETURN(const std::vector<v1::FeedEntry> entries, reader_.feed(cursor_, kBatch));
    for (const v1::FeedEntry& entry : entries) RETURN_IF_ERROR(Take(entry));
    const bool all = static_cast<int>(entries.size()) < kBatch;
    const bool last = all && !Wait(absl::ZeroDuration());
    if (cursor_ != saved_cursor_ &&
        (last || saved_cursor_ < 0 || clock_.SteadyNow() - saved_at_ >= options_.save_interval)) {
      RETURN_IF_ERROR(Save());
    }
    if (all) return absl::OkStatus();
  }
}

absl::Status EventSink::Take(const v1::FeedEntry& entry) {
  const std::string& run_id = entry.run().run_id();
  const v1::RunEvent& event = entry.run().event();
  auto it = runs_.find(run_id);
  if (it == runs_.end()) {
    ASSIGN_OR_RETURN(OpenRun run, Open(run_id, event.seq()));
    if (runs_.size() >= kMostOpenRuns) {
      RETURN_IF_ERROR(Save());
      runs_.clear();
    }
    it = runs_.emplace(run_id, std::move(run)).first;
  }
  OpenRun& run = it->second;
  if (event.seq() > run.last_seq) {
    RETURN_IF_ERROR(
        Annotate(run.recorder->Record(event, run.files.get()), absl::StrCat("run ", run_id)));
    run.last_seq = event.seq();
  }
  if (event.kind() == v1::RunEvent::RUN_ENDED) {
    RETURN_IF_ERROR(run.files->Sync());
    runs_.erase(it);
  }
  cursor_ = entry.cursor();
  MutexLock lock(&mu_);
  shown_cursor_ = cursor_;
  return absl::OkStatus();
}

absl::StatusOr<EventSink::OpenRun> EventSink::Open(const std::string& run_id, int64_t before_seq) {
  ASSIGN_OR_RETURN(const v1::RunConfig config, reader_.config(run_id));
  RunReader reader;
  reader.sources = [this, run_id](const std::string& candidate_id) {
    return reader_.sources(run_id, candidate_id);
  };
  reader.world_model = [this, run_id] { return reader_.world_model(run_id); };
  OpenRun run;
  run.recorder = MakeRecorder(options_.config, run_id, config, std::move(reader));
  run.files = std::make_unique<DiskRunFiles>(options_.config.folder());
  if (before_seq <= 1) return run;
  ASSIGN_OR_RETURN(const std::vector<v1::RunEvent> events, reader_.events(run_id));
  for (const v1::RunEvent& event : events) {
    if (event.seq() >= before_seq) break;
    RETURN_IF_ERROR(
        Annotate(run.recorder->Record(event, run.files.get()), absl::StrCat("run ", run_id)));
    run.last_seq = event.seq();
  }
  return run;
}

absl::Status EventSink::Save() {
  for (auto& [run_id, run] : runs_) RETURN_IF_ERROR(run.files->Sync());
  RETURN_IF_ERROR(MakeFolderOf(options_.cursor_path));
  RETURN_IF_ERROR(WriteFileAtomically(options_.cursor_path,
                                      absl::StrCat(Place(options_.config), cursor_, "\n"), 0600));
  saved_cursor_ = cursor_;
  saved_at_ = clock_.SteadyNow();
  return absl::OkStatus();
}

}  // namespace ksearch::sinks

#include "coordinator/dashboard/event_streams.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch::dashboard {
namespace {

// How long it may take to notice that a token, or this object, has ended.
constexpr absl::Duration kLookInterval = absl::Milliseconds(200);
constexpr size_t kMostHeld = 4096;

std::shared_ptr<const std::string> Shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

std::shared_ptr<const std::string> Missed() { return Shared("event: missed\ndata: {}\n\n"); }

// JSON on one line, so that it is one data field.
std::shared_ptr<const std::string> TextOf(const v1::FeedEntry& entry) {
  const std::string id = entry.cursor() > 0 ? absl::StrCat("id: ", entry.cursor(), "\n") : "";
  return Shared(absl::StrCat(id, "event: entry\ndata: ",
                             ToJson(entry, /*with_defaults=*/false, /*pretty=*/false), "\n\n"));
}

bool Concerns(const v1::FeedEntry& entry, const EventStreams::Reader& reader) {
  return !entry.has_run() || reader.run_id.empty() || entry.run().run_id() == reader.run_id;
}

}  // namespace

EventStreams::EventStreams(Options options, EventFeed* feed, ReadEvents read, NewestCursor newest,
                           std::function<absl::Status(const std::string&)> still_good)
    : options_(options),
      read_(std::move(read)),
      newest_(std::move(newest)),
      still_good_(std::move(still_good)),
      subscription_(feed->Subscribe({.runs = true, .run_id = "", .fleet = true})),
      last_beat_(Clock::Real().SteadyNow()),
      thread_([this] { Loop(); }) {}

EventStreams::~EventStreams() {
  {
    MutexLock lock(&mu_);
    closing_ = true;
    ends_.NotifyAll();
  }
  thread_.join();
}

int EventStreams::readers() const {
  MutexLock lock(&mu_);
  return static_cast<int>(listeners_.size());
}

HttpAnswer EventStreams::Open(Reader reader) {
  HttpAnswer answer;
  answer.content_type = "text/event-stream";
  answer.stream = [this, reader = std::move(reader)](std::shared_ptr<EventStream> stream) {
    Begin(reader, std::move(stream));
  };
  return answer;
}

void EventStreams::Begin(const Reader& reader, std::shared_ptr<EventStream> stream) {
  auto listener = std::make_shared<Listener>();
  listener->reader = reader;
  listener->stream = stream;
  {
    // Registers before the first read, so that no entry is lost in between.
    MutexLock lock(&mu_);
    if (closing_) return stream->Close();
    listeners_.push_back(listener);
  }
  const auto newest = newest_();
  const int64_t stand = newest.value_or(0);
  stream->Send(Shared(absl::StrCat("event: stand\ndata: {\"cursor\": \"",
                                   std::min(reader.after.value_or(stand), stand), "\"}\n\n")));
  const auto whole = newest.ok() ? CatchUp(reader, stand, stream.get()) : newest.status();
  if (!whole.ok() || !*whole) stream->Send(Missed());
  MutexLock lock(&mu_);
  listener->catching_up = false;
  listener->stand = stand;
  if (listener->missed) stream->Send(Missed());
  for (const auto& [cursor, text] : listener->held) {
    if (cursor == 0 || cursor > stand) stream->Send(text);
  }
  listener->held.clear();
}

absl::StatusOr<bool> EventStreams::CatchUp(const Reader& reader, int64_t newest,
                                           EventStream* stream) {
  if (!reader.after.has_value() || *reader.after >= newest) return true;
  ASSIGN_OR_RETURN(const std::vector<v1::FeedEntry> entries,
                   read_(*reader.after, options_.most_to_catch_up + 1));
  if (static_cast<int>(entries.size()) > options_.most_to_catch_up) return false;
  for (const v1::FeedEntry& entry : entries) {
    // Entries committed since `newest` was read are held back, or come later.
    if (entry.cursor() <= newest && Concerns(entry, reader)) stream->Send(TextOf(entry));
  }
  return true;
}

void EventStreams::Loop() {
  for (;;) {
    const EventFeed::Batch batch = subscription_->Next(kLookInterval);
    MutexLock lock(&mu_);
    Distribute(batch);
    ReviewListeners();
    if (closing_ || batch.closed) {
      closing_ = true;
      for (const auto& listener : listeners_) listener->stream->Close();
      listeners_.clear();
      return;
    }
    // Entries that come meanwhile are delivered together.
    if (!batch.entries.empty()) ends_.WaitFor(&mu_, options_.gathering);
  }
}

void EventStreams::Distribute(const EventFeed::Batch& batch) {
  if (listeners_.empty()) return;
  if (batch.missed) {
    for (const auto& listener : listeners_) {
      if (listener->catching_up) {
        listener->missed = true;
      } else {
        listener->stream->Send(Missed());
      }
    }
  }
  // Entries, and their form for readers of one run, are converted to text only when needed.
  std::vector<std::shared_ptr<const std::string>> texts(batch.entries.size());
  const auto text = [&](size_t i) {
    if (texts[i] == nullptr) texts[i] = TextOf(*batch.entries[i]);
    return texts[i];
  };
  std::map<std::string, std::shared_ptr<const std::string>> joined;
  int64_t first_cursor = std::numeric_limits<int64_t>::max();
  for (const auto& entry : batch.entries) {
    if (entry->has_run()) first_cursor = std::min(first_cursor, entry->cursor());
  }
  for (const auto& listener : listeners_) {
    if (!listener->catching_up && listener->stand < first_cursor) {
      auto& all = joined[listener->reader.run_id];
      if (all == nullptr) {
        std::string together;
        for (size_t i = 0; i < texts.size(); ++i) {
          if (Concerns(*batch.entries[i], listener->reader)) together += *text(i);
        }
        all = Shared(std::move(together));
      }
      if (!all->empty()) listener->stream->Send(all);
      continue;
    }
    for (size_t i = 0; i < texts.size(); ++i) {
      const v1::FeedEntry& entry = *batch.entries[i];
      if (!Concerns(entry, listener->reader)) continue;
      // The reader has caught up past this entry already.
      if (entry.has_run() && entry.cursor() <= listener->stand) continue;
      if (!listener->catching_up) {
        listener->stream->Send(text(i));
      } else if (listener->held.size() < kMostHeld) {
        listener->held.emplace_back(entry.cursor(), text(i));
      } else {
        listener->missed = true;
      }
    }
  }
}

// Ends readers whose token is no longer valid, and forgets those that disconnected.
void EventStreams::ReviewListeners() {
  const absl::Time now = Clock::Real().SteadyNow();
  const bool beat = now - last_beat_ >= options_.heartbeat;
  if (beat) last_beat_ = now;
  const auto comment = Shared(": still here\n\n");
  std::erase_if(listeners_, [&](const std::shared_ptr<Listener>& listener) {
    if (still_good_ && !listener->reader.token_id.empty() &&
        !still_good_(listener->reader.token_id).ok()) {
      listener->stream->Close();
      return true;
    }
    if (beat && !listener->catching_up) listener->stream->Send(comment);
    return listener->stream->closed();
  });
}

}  // namespace ksearch::dashboard

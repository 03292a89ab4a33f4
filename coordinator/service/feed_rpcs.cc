// The RPCs that follow events, of one run or of everything. They read the store to catch up, and
// then get every event as it is committed.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "common/grpc_channel.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "coordinator/service/search_service.h"

namespace ksearch {
namespace {

constexpr int kEventsPerRead = 1000;
// How often an idle stream checks whether its caller is still connected and authorized.
constexpr absl::Duration kLookInterval = absl::Milliseconds(250);

}  // namespace

grpc::Status SearchService::WatchRun(grpc::ServerContext* context,
                                     const v1::WatchRunRequest* request,
                                     grpc::ServerWriter<v1::WatchRunReply>* writer) {
  return ToGrpc(Watch(context, *request, writer));
}

absl::Status SearchService::Watch(grpc::ServerContext* context, const v1::WatchRunRequest& request,
                                  grpc::ServerWriter<v1::WatchRunReply>* writer) {
  ASSIGN_OR_RETURN(const std::string run_id, parts_.store->ResolveRun(request.run_id()));
  // Subscribes before the first read, so that no event is lost in between.
  const auto subscription =
      parts_.feed->Subscribe({.runs = true, .run_id = run_id, .fleet = false});
  int64_t after = request.after_seq();
  v1::WatchRunReply reply;
  const auto send = [&](const v1::RunEvent& event) {
    after = event.seq();
    *reply.mutable_event() = event;
    return writer->Write(reply);
  };
  for (bool first = true, behind = true; !context->IsCancelled();) {
    RETURN_IF_ERROR(CheckStillServed(*context));
    if (behind) {
      // Reads the status before the events: if it has ended, all its events are there.
      ASSIGN_OR_RETURN(*reply.mutable_status(), parts_.store->ReadRunStatus(run_id));
      if (first) writer->Write(reply);
      first = false;
      ASSIGN_OR_RETURN(const auto events, parts_.store->ReadEvents(run_id, after, kEventsPerRead));
      for (const v1::RunEvent& event : events) {
        if (!send(event)) return absl::OkStatus();
      }
      // Events past the status: the run was resumed meanwhile.
      const int64_t known = std::max(reply.status().last_event_seq(), request.after_seq());
      behind = events.size() == kEventsPerRead;
      if (!behind && HasEnded(reply.status().state()) && after <= known) return absl::OkStatus();
      continue;
    }
    const EventFeed::Batch batch = subscription->Next(kLookInterval);
    behind = batch.missed;
    if (behind) continue;
    for (const auto& entry : batch.entries) {
      const v1::RunHappening& happening = entry->run();
      if (happening.event().seq() <= after) continue;
      *reply.mutable_status() = happening.status();
      if (!send(happening.event())) return absl::OkStatus();
      const bool last = happening.event().seq() == happening.status().last_event_seq();
      if (last && HasEnded(happening.status().state())) return absl::OkStatus();
    }
  }
  return absl::CancelledError("the caller went away");
}

grpc::Status SearchService::WatchFeed(grpc::ServerContext* context,
                                      const v1::WatchFeedRequest* request,
                                      grpc::ServerWriter<v1::FeedEntry>* writer) {
  return ToGrpc(Follow(context, *request, writer));
}

absl::Status SearchService::Follow(grpc::ServerContext* context,
                                   const v1::WatchFeedRequest& request,
                                   grpc::ServerWriter<v1::FeedEntry>* writer) {
  if (request.has_after() && request.after() < 0) {
    return absl::InvalidArgumentError("after: must be a cursor of the feed, from 0");
  }
  const auto subscription = parts_.feed->Subscribe(
      {.runs = !request.without_runs(), .run_id = "", .fleet = !request.without_fleet()});
  ASSIGN_OR_RETURN(const int64_t newest, parts_.store->ReadNewestCursor());
  int64_t after = request.has_after() ? std::min(request.after(), newest) : newest;
  v1::FeedEntry stand;
  stand.set_cursor(after);
  writer->Write(stand);
  // A reader that missed something reads the runs' events of that time again, and is told once that
  // the fleet's are lost.
  bool behind = !request.without_runs() && after < newest;
  bool missed = false;
  while (!context->IsCancelled()) {
    RETURN_IF_ERROR(CheckStillServed(*context));
    if (behind) {
      ASSIGN_OR_RETURN(auto entries, parts_.store->ReadAllEvents(after, kEventsPerRead));
      for (v1::FeedEntry& entry : entries) {
        after = entry.cursor();
        entry.set_missed(std::exchange(missed, false));
        if (!writer->Write(entry)) return absl::OkStatus();
      }
      behind = entries.size() == kEventsPerRead;
      continue;
    }
    const EventFeed::Batch batch = subscription->Next(kLookInterval);
    missed |= batch.missed;
    behind = batch.missed && !request.without_runs();
    for (const auto& entry : batch.entries) {
      // Events of runs are read again, in order, with those dropped before them.
      if (entry->has_run() && (behind || entry->cursor() <= after)) continue;
      if (entry->has_run()) after = entry->cursor();
      if (missed) {
        v1::FeedEntry marked = *entry;
        marked.set_missed(std::exchange(missed, false));
        if (!writer->Write(marked)) return absl::OkStatus();
      } else if (!writer->Write(*entry)) {
        return absl::OkStatus();
      }
    }
  }
  return absl::CancelledError("the caller went away");
}

grpc::Status SearchService::ListEvents(grpc::ServerContext*, const v1::ListEventsRequest* request,
                                       v1::ListEventsReply* reply) {
  const auto run_id = parts_.store->ResolveRun(request->run_id());
  if (!run_id.ok()) return ToGrpc(run_id.status());
  const int limit =
      request->limit() > 0 ? std::min(request->limit(), kEventsPerRead) : kEventsPerRead;
  const auto events = parts_.store->ReadEvents(*run_id, request->after_seq(), limit);
  if (!events.ok()) return ToGrpc(events.status());
  for (const v1::RunEvent& event : *events) *reply->add_events() = event;
  return grpc::Status::OK;
}

}  // namespace ksearch

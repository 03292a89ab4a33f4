#include "coordinator/store/event_rows.h"

#include <utility>

#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch::event_rows {
namespace {

// SQLite takes a negative LIMIT as none.
int64_t Limit(int limit) { return limit > 0 ? limit : -1; }

}  // namespace

absl::StatusOr<std::vector<v1::FeedEntry>> Insert(Database& database, const StepCommit& step,
                                                  int64_t last_seq, absl::Time now) {
  constexpr absl::string_view kInsert =
      "INSERT INTO events (run_id, seq, kind, candidate_id, score, body) VALUES (?, ?, ?, ?, ?, ?) "
      "RETURNING rowid";
  v1::RunStatus status = step.status;
  status.set_run_id(step.run_id);
  status.set_last_event_seq(last_seq + static_cast<int64_t>(step.events.size()));
  std::vector<v1::FeedEntry> entries;
  for (v1::RunEvent event : step.events) {
    event.set_seq(++last_seq);
    if (!event.has_at()) *event.mutable_at() = ToProto(now);
    Statement insert = database.Prepare(kInsert);
    insert.Text(step.run_id)
        .Int(event.seq())
        .Text(v1::RunEvent::Kind_Name(event.kind()))
        .Text(event.candidate_id())
        .Real(event.score())
        .Proto(event);
    RETURN_IF_ERROR(insert.Next().status());
    v1::FeedEntry& entry = entries.emplace_back();
    entry.set_cursor(insert.IntAt(0));
    entry.mutable_run()->set_run_id(step.run_id);
    *entry.mutable_run()->mutable_event() = std::move(event);
    *entry.mutable_run()->mutable_status() = status;
  }
  return entries;
}

absl::StatusOr<std::vector<v1::RunEvent>> Read(Database& database, const std::string& run_id,
                                               int64_t after_seq, int limit) {
  Statement select =
      database.Prepare("SELECT body FROM events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?");
  select.Text(run_id).Int(after_seq).Int(Limit(limit));
  std::vector<v1::RunEvent> events;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return events;
    RETURN_IF_ERROR(select.ProtoAt(0, &events.emplace_back()));
  }
}

absl::StatusOr<std::vector<v1::FeedEntry>> ReadAll(Database& database, int64_t after_cursor,
                                                   int limit) {
  Statement select = database.Prepare(
      "SELECT rowid, run_id, body FROM events WHERE rowid > ? ORDER BY rowid LIMIT ?");
  select.Int(after_cursor).Int(Limit(limit));
  std::vector<v1::FeedEntry> entries;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return entries;
    v1::FeedEntry& entry = entries.emplace_back();
    entry.set_cursor(select.IntAt(0));
    entry.mutable_run()->set_run_id(select.TextAt(1));
    RETURN_IF_ERROR(select.ProtoAt(2, entry.mutable_run()->mutable_event()));
  }
}

absl::StatusOr<int64_t> ReadNewestCursor(Database& database) {
  Statement select = database.Prepare("SELECT ifnull(max(rowid), 0) FROM events");
  RETURN_IF_ERROR(select.Next().status());
  return select.IntAt(0);
}

}  // namespace ksearch::event_rows

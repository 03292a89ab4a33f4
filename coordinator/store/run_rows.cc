#include "coordinator/store/run_rows.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/store/state_pieces.h"

namespace ksearch::run_rows {
namespace {

absl::Status NoRun(const std::string& run_id) {
  return absl::NotFoundError(absl::StrCat("no run \"", run_id, "\""));
}

absl::StatusOr<StatePieces> ReadPieces(Database& database, const std::string& run_id) {
  Statement select = database.Prepare("SELECT piece, body FROM run_state_pieces WHERE run_id = ?");
  select.Text(run_id);
  StatePieces pieces;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return pieces;
    pieces[select.IntAt(0)] = select.TextAt(1);
  }
}

// Updates the stored pieces to those of `state`. `order`: the order of pieces in the run's row
// before and afterwards; nullopt: the row has the state itself.
absl::Status WritePieces(Database& database, const std::string& run_id, const std::string& state,
                         std::optional<std::string>* order, std::optional<PiecedState>* pieced) {
  if (state.size() <= kLongestWholeState) {
    pieced->reset();
    if (!std::exchange(*order, std::nullopt).has_value()) return absl::OkStatus();
    return database.Prepare("DELETE FROM run_state_pieces WHERE run_id = ?").Text(run_id).Run();
  }
  if (!order->has_value()) {
    pieced->emplace();
  } else if (!pieced->has_value()) {
    ASSIGN_OR_RETURN(const StatePieces stored, ReadPieces(database, run_id));
    ASSIGN_OR_RETURN(*pieced, PiecedState::Read(stored, **order));
  }
  PieceChanges changes = (*pieced)->ChangeTo(state);
  for (const auto& [number, body] : changes.written) {
    RETURN_IF_ERROR(database
                        .Prepare("INSERT INTO run_state_pieces (run_id, piece, body) VALUES (?, ?, "
                                 "?) ON CONFLICT DO UPDATE SET body = excluded.body")
                        .Text(run_id)
                        .Int(number)
                        .Blob(body)
                        .Run());
  }
  for (const int64_t number : changes.removed) {
    RETURN_IF_ERROR(database.Prepare("DELETE FROM run_state_pieces WHERE run_id = ? AND piece = ?")
                        .Text(run_id)
                        .Int(number)
                        .Run());
  }
  *order = std::move(changes.order);
  return absl::OkStatus();
}

// SQLite takes a negative LIMIT as none.
int64_t Limit(int limit) { return limit > 0 ? limit : -1; }

}  // namespace

absl::StatusOr<std::string> Insert(Database& database, const RunRow& run, absl::Time now) {
  if (run.run_id.empty()) return absl::InvalidArgumentError("run_id is empty");
  if (!run.request_id.empty()) {
    Statement same = database.Prepare("SELECT run_id FROM runs WHERE request_id = ?");
    ASSIGN_OR_RETURN(const bool found, same.Text(run.request_id).Next());
    if (found) return same.TextAt(0);
  }
  Statement insert = database.Prepare(
      "INSERT INTO runs (run_id, request_id, created_unix_us, config) VALUES (?, ?, ?, ?) "
      "ON CONFLICT (run_id) DO NOTHING");
  insert.Text(run.run_id);
  if (run.request_id.empty()) {
    insert.Null();
  } else {
    insert.Text(run.request_id);
  }
  RETURN_IF_ERROR(insert.Time(now).Proto(run.config).Run());
  if (database.changes() == 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("run_id \"", run.run_id, "\" belongs to a run with another request_id"));
  }
  RETURN_IF_ERROR(
      database
          .Prepare("INSERT INTO run_states (run_id, cursor, last_event_seq, updated_unix_us, "
                   "status, state) VALUES (?, ?, 0, ?, ?, ?)")
          .Text(run.run_id)
          .Int(run.cursor)
          .Time(now)
          .Proto(run.status)
          .Blob(run.state)
          .Run());
  RETURN_IF_ERROR(
      database.Prepare("INSERT INTO ledger (run_id, scope) VALUES (?, '')").Text(run.run_id).Run());
  return run.run_id;
}

absl::StatusOr<RunRow> Read(Database& database, const std::string& run_id) {
  // One statement, so that no step comes between the state and its pieces.
  Statement select = database.Prepare(
      "SELECT request_id, config, cursor, last_event_seq, status, state, in_pieces, piece, body "
      "FROM runs JOIN run_states USING (run_id) LEFT JOIN run_state_pieces USING (run_id) "
      "WHERE run_id = ?");
  ASSIGN_OR_RETURN(const bool found, select.Text(run_id).Next());
  if (!found) return NoRun(run_id);
  RunRow run;
  run.run_id = run_id;
  run.request_id = select.TextAt(0);
  RETURN_IF_ERROR(select.ProtoAt(1, &run.config));
  run.cursor = select.IntAt(2);
  RETURN_IF_ERROR(select.ProtoAt(4, &run.status));
  run.status.set_run_id(run_id);
  run.status.set_last_event_seq(select.IntAt(3));
  run.state = select.TextAt(5);
  if (select.IntAt(6) == 0) return run;
  StatePieces pieces;
  for (bool row = true; row;) {
    pieces[select.IntAt(7)] = select.TextAt(8);
    ASSIGN_OR_RETURN(row, select.Next());
  }
  absl::StatusOr<std::string> state = JoinPieces(pieces, run.state);
  RETURN_IF_ERROR(Annotate(state.status(), absl::StrCat("run ", run_id)));
  run.state = *std::move(state);
  return run;
}

absl::StatusOr<v1::RunStatus> ReadStatus(Database& database, const std::string& run_id) {
  Statement select =
      database.Prepare("SELECT last_event_seq, status FROM run_states WHERE run_id = ?");
  ASSIGN_OR_RETURN(const bool found, select.Text(run_id).Next());
  if (!found) return NoRun(run_id);
  v1::RunStatus status;
  RETURN_IF_ERROR(select.ProtoAt(1, &status));
  status.set_run_id(run_id);
  status.set_last_event_seq(select.IntAt(0));
  return status;
}

absl::StatusOr<std::string> Resolve(Database& database, const std::string& prefix) {
  if (prefix.empty()) {
    return absl::InvalidArgumentError("run_id is empty; give an id, a unique prefix or \"last\"");
  }
  if (prefix == "last") {
    Statement newest = database.Prepare("SELECT run_id FROM runs ORDER BY number DESC LIMIT 1");
    ASSIGN_OR_RETURN(const bool found, newest.Next());
    if (!found) return absl::NotFoundError("there is no run yet");
    return newest.TextAt(0);
  }
  // The exact id first: it may be the prefix of another.
  Statement select = database.Prepare(
      "SELECT run_id FROM runs WHERE substr(run_id, 1, length(?1)) = ?1 "
      "ORDER BY run_id = ?1 DESC, run_id LIMIT 3");
  select.Text(prefix);
  std::vector<std::string> matches;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) break;
    matches.push_back(select.TextAt(0));
  }
  if (matches.empty()) return NoRun(prefix);
  if (matches.size() > 1 && matches[0] != prefix) {
    return absl::InvalidArgumentError(absl::StrCat("\"", prefix,
                                                   "\" is the beginning of several runs, e.g. ",
                                                   matches[0], " and ", matches[1]));
  }
  return matches[0];
}

absl::StatusOr<std::vector<v1::RunStatus>> List(Database& database) {
  Statement select = database.Prepare(
      "SELECT run_id, last_event_seq, status FROM runs JOIN run_states USING (run_id) "
      "ORDER BY number DESC");
  std::vector<v1::RunStatus> runs;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return runs;
    v1::RunStatus& status = runs.emplace_back();
    RETURN_IF_ERROR(select.ProtoAt(2, &status));
    status.set_run_id(select.TextAt(0));
    status.set_last_event_seq(select.IntAt(1));
  }
}

absl::StatusOr<int64_t> Advance(Database& database, const StepCommit& step, absl::Time now,
                                std::optional<PiecedState>* pieced) {
  int64_t last_seq = 0;
  std::optional<std::string> order;
  {
    Statement select = database.Prepare(
        "SELECT cursor, last_event_seq, in_pieces, CASE in_pieces WHEN 0 THEN '' ELSE state END "
        "FROM run_states WHERE run_id = ?");
    ASSIGN_OR_RETURN(const bool found, select.Text(step.run_id).Next());
    if (!found) return NoRun(step.run_id);
    if (step.cursor < select.IntAt(0)) {
      return absl::FailedPreconditionError(absl::StrCat("run ", step.run_id, ": the step's cursor ",
                                                        step.cursor, " is behind the committed ",
                                                        select.IntAt(0)));
    }
    last_seq = select.IntAt(1);
    if (select.IntAt(2) != 0) order = select.TextAt(3);
  }
  RETURN_IF_ERROR(WritePieces(database, step.run_id, step.state, &order, pieced));
  RETURN_IF_ERROR(database
                      .Prepare("UPDATE run_states SET cursor = ?, last_event_seq = ?, "
                               "updated_unix_us = ?, status = ?, state = ?, in_pieces = ? "
                               "WHERE run_id = ?")
                      .Int(step.cursor)
                      .Int(last_seq + static_cast<int64_t>(step.events.size()))
                      .Time(now)
                      .Proto(step.status)
                      .Blob(order.has_value() ? *order : step.state)
                      .Int(order.has_value() ? 1 : 0)
                      .Text(step.run_id)
                      .Run());
  return last_seq;
}

absl::StatusOr<bool> InsertArrival(Database& database, const std::string& run_id,
                                   Arrival::Kind kind, const std::string& ref,
                                   const std::string& tag) {
  RETURN_IF_ERROR(database
                      .Prepare("INSERT INTO arrivals (run_id, kind, ref, tag) VALUES (?, ?, ?, ?) "
                               "ON CONFLICT DO NOTHING")
                      .Text(run_id)
                      .Text(kind == Arrival::Kind::kReply ? "reply" : "result")
                      .Text(ref)
                      .Text(tag)
                      .Run());
  return database.changes() > 0;
}

absl::StatusOr<std::vector<Arrival>> ReadArrivals(Database& database, const std::string& run_id,
                                                  int64_t after_seq, int limit) {
  Statement select = database.Prepare(
      "SELECT seq, kind, ref, tag FROM arrivals WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?");
  select.Text(run_id).Int(after_seq).Int(Limit(limit));
  std::vector<Arrival> arrivals;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return arrivals;
    Arrival& arrival = arrivals.emplace_back();
    arrival.seq = select.IntAt(0);
    arrival.kind = select.TextAt(1) == "reply" ? Arrival::Kind::kReply : Arrival::Kind::kResult;
    arrival.ref = select.TextAt(2);
    arrival.tag = select.TextAt(3);
  }
}

}  // namespace ksearch::run_rows

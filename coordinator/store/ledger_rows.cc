#include "coordinator/store/ledger_rows.h"

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ksearch::ledger_rows {
namespace {

// The scope of the row for the devices' cost. Scopes of models contain a '/'.
constexpr char kDevices[] = "devices";

std::string ScopeOf(const LlmCallRow& call) { return absl::StrCat(call.provider, "/", call.model); }

absl::Status AddScope(Database& database, const std::string& run_id, const std::string& scope) {
  return database.Prepare("INSERT INTO ledger (run_id, scope) VALUES (?, ?) ON CONFLICT DO NOTHING")
      .Text(run_id)
      .Text(scope)
      .Run();
}

absl::Status ReserveIn(Database& database, const LlmCallRow& call, const std::string& scope) {
  RETURN_IF_ERROR(AddScope(database, call.run_id, scope));
  // Check and update are one statement: no other caller can come between.
  RETURN_IF_ERROR(
      database
          .Prepare("UPDATE ledger SET calls = calls + 1, tokens_reserved = tokens_reserved + ?1, "
                   "nano_reserved = nano_reserved + ?2 WHERE run_id = ?3 AND scope = ?4 AND "
                   "calls + 1 <= ifnull(cap_calls, calls + 1) AND "
                   "tokens_spent + tokens_reserved + ?1 <= "
                   "ifnull(cap_tokens, tokens_spent + tokens_reserved + ?1) AND "
                   "nano_spent + nano_reserved + ?2 <= "
                   "ifnull(cap_nano, nano_spent + nano_reserved + ?2)")
          .Int(call.reserved_tokens)
          .Int(call.reserved_nano)
          .Text(call.run_id)
          .Text(scope)
          .Run());
  if (database.changes() > 0) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("call \"", call.call_id,
                                            "\" does not fit under a cap of ",
                                            scope.empty() ? "run " + call.run_id : scope));
}

void BindCap(Statement& statement, const std::optional<int64_t>& cap) {
  if (cap.has_value()) {
    statement.Int(*cap);
  } else {
    statement.Null();
  }
}

std::optional<int64_t> CapAt(const Statement& row, int column) {
  if (row.IsNullAt(column)) return std::nullopt;
  return row.IntAt(column);
}

}  // namespace

absl::Status SetCaps(Database& database, const std::string& run_id,
                     const std::vector<LedgerCaps>& caps) {
  RETURN_IF_ERROR(
      database
          .Prepare("UPDATE ledger SET cap_calls = NULL, cap_tokens = NULL, cap_nano = NULL "
                   "WHERE run_id = ?")
          .Text(run_id)
          .Run());
  for (const LedgerCaps& scope : caps) {
    RETURN_IF_ERROR(AddScope(database, run_id, scope.scope));
    Statement update = database.Prepare(
        "UPDATE ledger SET cap_calls = ?, cap_tokens = ?, cap_nano = ? WHERE run_id = ? AND "
        "scope = ?");
    BindCap(update, scope.calls);
    BindCap(update, scope.tokens);
    BindCap(update, scope.nano_usd);
    RETURN_IF_ERROR(update.Text(run_id).Text(scope.scope).Run());
  }
  return absl::OkStatus();
}

absl::Status Reserve(Database& database, const LlmCallRow& call) {
  RETURN_IF_ERROR(ReserveIn(database, call, ""));
  return ReserveIn(database, call, ScopeOf(call));
}

absl::Status Settle(Database& database, const LlmCallRow& reserved, int64_t tokens, int64_t nano) {
  for (const std::string& scope : {std::string(), ScopeOf(reserved)}) {
    RETURN_IF_ERROR(AddScope(database, reserved.run_id, scope));
    RETURN_IF_ERROR(
        database
            .Prepare("UPDATE ledger SET tokens_reserved = tokens_reserved - ?, "
                     "nano_reserved = nano_reserved - ?, tokens_spent = tokens_spent + ?, "
                     "nano_spent = nano_spent + ? WHERE run_id = ? AND scope = ?")
            .Int(reserved.reserved_tokens)
            .Int(reserved.reserved_nano)
            .Int(tokens)
            .Int(nano)
            .Text(reserved.run_id)
            .Text(scope)
            .Run());
  }
  return absl::OkStatus();
}

absl::Status AddEvaluations(Database& database, const std::string& run_id, int64_t evaluations,
                            int64_t device_us, int64_t device_nano) {
  RETURN_IF_ERROR(AddScope(database, run_id, ""));
  if (device_nano != 0) {
    RETURN_IF_ERROR(AddScope(database, run_id, kDevices));
    RETURN_IF_ERROR(
        database
            .Prepare("UPDATE ledger SET nano_spent = nano_spent + ? WHERE run_id = ? AND scope = ?")
            .Int(device_nano)
            .Text(run_id)
            .Text(kDevices)
            .Run());
  }
  return database
      .Prepare(
          "UPDATE ledger SET evaluations = evaluations + ?, device_us = device_us + ? "
          "WHERE run_id = ? AND scope = ''")
      .Int(evaluations)
      .Int(device_us)
      .Text(run_id)
      .Run();
}

absl::StatusOr<std::vector<LedgerRow>> Read(Database& database, const std::string& run_id) {
  Statement select = database.Prepare(
      "SELECT scope, calls, tokens_spent, tokens_reserved, nano_spent, nano_reserved, evaluations, "
      "device_us, cap_calls, cap_tokens, cap_nano FROM ledger WHERE run_id = ? ORDER BY scope");
  select.Text(run_id);
  std::vector<LedgerRow> rows;
  int64_t device_nano = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, select.Next());
    if (!found) break;
    if (select.TextAt(0) == kDevices) {
      device_nano = select.IntAt(4);
      continue;
    }
    LedgerRow& row = rows.emplace_back();
    row.scope = select.TextAt(0);
    row.calls = select.IntAt(1);
    row.tokens_spent = select.IntAt(2);
    row.tokens_reserved = select.IntAt(3);
    row.nano_spent = select.IntAt(4);
    row.nano_reserved = select.IntAt(5);
    row.evaluations = select.IntAt(6);
    row.device_us = select.IntAt(7);
    row.caps.scope = row.scope;
    row.caps.calls = CapAt(select, 8);
    row.caps.tokens = CapAt(select, 9);
    row.caps.nano_usd = CapAt(select, 10);
  }
  if (rows.empty() || !rows[0].scope.empty()) rows.insert(rows.begin(), LedgerRow());
  rows[0].device_nano = device_nano;
  return rows;
}

}  // namespace ksearch::ledger_rows

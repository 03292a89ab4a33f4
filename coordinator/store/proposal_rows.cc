#include "coordinator/store/proposal_rows.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/store/ledger_rows.h"
#include "coordinator/store/run_rows.h"

namespace ksearch::proposal_rows {
namespace {

constexpr absl::string_view kCallColumns =
    "SELECT call_id, run_id, purpose, node_id, attempt, cycle, role, provider, model, "
    "created_unix_us, prompt, dropped_parts, replied_unix_us, error, finish_reason, reply_model, "
    "input_tokens, output_tokens, reply, max_output_tokens, reasoning_effort, system, "
    "provider_state, admitted, reserved_tokens, reserved_nano, sent_unix_us, lost_sends, "
    "lost_tokens, lost_nano, "
    "uncached_input, cache_read, cache_write_5m, cache_write_1h, visible_output, reasoning_output, "
    "cost_nano, cost_basis "
    "FROM llm_calls ";

// A candidate's score is that of its latest pass in the run; -1 = none.
constexpr absl::string_view kCandidateColumns =
    "SELECT c.candidate_id, sources, node_id, parent_candidate_id, call_id, cycle, round, attempt, "
    "job_id, ifnull((SELECT score FROM events AS e WHERE e.run_id = c.run_id AND "
    "e.candidate_id = c.candidate_id AND e.kind = 'CANDIDATE_PASSED' ORDER BY seq DESC LIMIT 1), "
    "-1.0) FROM candidates AS c JOIN candidate_sources USING (candidate_id) ";

LlmCallRow CallAt(const Statement& row) {
  LlmCallRow call;
  call.call_id = row.TextAt(0);
  call.run_id = row.TextAt(1);
  call.purpose = row.TextAt(2);
  call.node_id = row.TextAt(3);
  call.attempt = static_cast<int>(row.IntAt(4));
  call.cycle = static_cast<int>(row.IntAt(5));
  call.role = row.TextAt(6);
  call.provider = row.TextAt(7);
  call.model = row.TextAt(8);
  call.created = row.TimeAt(9);
  call.prompt = row.TextAt(10);
  call.dropped_parts = row.TextAt(11);
  call.max_output_tokens = static_cast<int>(row.IntAt(19));
  call.reasoning_effort = row.TextAt(20);
  call.system = row.TextAt(21);
  call.provider_state = row.TextAt(22);
  call.admitted = row.IntAt(23) != 0;
  call.reserved_tokens = row.IntAt(24);
  call.reserved_nano = row.IntAt(25);
  if (!row.IsNullAt(26)) call.sent = row.TimeAt(26);
  call.lost_sends = static_cast<int>(row.IntAt(27));
  call.lost_tokens = row.IntAt(28);
  call.lost_nano = row.IntAt(29);
  call.answered = !row.IsNullAt(12);
  if (!call.answered) return call;
  call.replied = row.TimeAt(12);
  call.error = row.TextAt(13);
  call.finish_reason = row.TextAt(14);
  call.reply_model = row.TextAt(15);
  call.input_tokens = row.IntAt(16);
  call.output_tokens = row.IntAt(17);
  call.reply = row.TextAt(18);
  call.usage.uncached_input = row.IntAt(30);
  call.usage.cache_read = row.IntAt(31);
  call.usage.cache_write_5m = row.IntAt(32);
  call.usage.cache_write_1h = row.IntAt(33);
  call.usage.visible_output = row.IntAt(34);
  call.usage.reasoning_output = row.IntAt(35);
  call.cost_nano = row.IntAt(36);
  call.cost_basis = row.TextAt(37);
  return call;
}

absl::Status ReadCandidateAt(const Statement& row, const std::string& run_id,
                             CandidateRow* candidate) {
  candidate->run_id = run_id;
  candidate->candidate_id = row.TextAt(0);
  RETURN_IF_ERROR(row.ProtoAt(1, &candidate->sources));
  candidate->node_id = row.TextAt(2);
  candidate->parent_candidate_id = row.TextAt(3);
  candidate->call_id = row.TextAt(4);
  candidate->cycle = static_cast<int>(row.IntAt(5));
  candidate->round = static_cast<int>(row.IntAt(6));
  candidate->attempt = static_cast<int>(row.IntAt(7));
  candidate->job_id = row.TextAt(8);
  candidate->score = row.RealAt(9);
  return absl::OkStatus();
}

absl::Time GivenOr(absl::Time given, absl::Time now) { return given == absl::Time() ? now : given; }

}  // namespace

absl::Status InsertCall(Database& database, const LlmCallRow& call, absl::Time now) {
  RETURN_IF_ERROR(
      database
          .Prepare("INSERT INTO llm_calls (call_id, run_id, purpose, node_id, attempt, cycle, "
                   "role, provider, model, created_unix_us, max_output_tokens, reasoning_effort, "
                   "system, prompt, dropped_parts, reserved_tokens, reserved_nano) VALUES "
                   "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                   "ON CONFLICT (call_id) DO NOTHING")
          .Text(call.call_id)
          .Text(call.run_id)
          .Text(call.purpose)
          .Text(call.node_id)
          .Int(call.attempt)
          .Int(call.cycle)
          .Text(call.role)
          .Text(call.provider)
          .Text(call.model)
          .Time(GivenOr(call.created, now))
          .Int(call.max_output_tokens)
          .Text(call.reasoning_effort)
          .Text(call.system)
          .Text(call.prompt)
          .Text(call.dropped_parts)
          .Int(call.reserved_tokens)
          .Int(call.reserved_nano)
          .Run());
  if (database.changes() > 0) return ledger_rows::Reserve(database, call);
  ASSIGN_OR_RETURN(const LlmCallRow kept, ReadCall(database, call.call_id));
  if (kept.run_id != call.run_id || kept.system != call.system || kept.prompt != call.prompt) {
    return absl::FailedPreconditionError(
        absl::StrCat("call_id \"", call.call_id, "\" was used for another prompt"));
  }
  if (kept.admitted || kept.answered) return absl::OkStatus();
  RETURN_IF_ERROR(ledger_rows::Reserve(database, call));
  return database
      .Prepare(
          "UPDATE llm_calls SET admitted = 1, reserved_tokens = ?, reserved_nano = ? "
          "WHERE call_id = ?")
      .Int(call.reserved_tokens)
      .Int(call.reserved_nano)
      .Text(call.call_id)
      .Run();
}

absl::Status RecordSend(Database& database, const std::string& call_id, absl::Time now) {
  RETURN_IF_ERROR(database
                      .Prepare("UPDATE llm_calls SET sent_unix_us = ? WHERE call_id = ? AND "
                               "replied_unix_us IS NULL")
                      .Time(now)
                      .Text(call_id)
                      .Run());
  if (database.changes() > 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("no call \"", call_id, "\" without an answer"));
}

absl::Status LoseCall(Database& database, const std::string& run_id, const std::string& call_id) {
  ASSIGN_OR_RETURN(const LlmCallRow call, ReadCall(database, call_id));
  if (call.run_id != run_id) {
    return absl::InvalidArgumentError(
        absl::StrCat("a step of run ", run_id, " loses a call of run ", call.run_id));
  }
  if (call.answered || call.sent == absl::Time()) return absl::OkStatus();
  RETURN_IF_ERROR(ledger_rows::Settle(database, call, call.reserved_tokens, call.reserved_nano));
  return database
      .Prepare(
          "UPDATE llm_calls SET admitted = 0, sent_unix_us = NULL, "
          "lost_sends = lost_sends + 1, lost_tokens = lost_tokens + reserved_tokens, "
          "lost_nano = lost_nano + reserved_nano, reserved_tokens = 0, reserved_nano = 0 "
          "WHERE call_id = ?")
      .Text(call_id)
      .Run();
}

absl::Status RecordReply(Database& database, const LlmCallRow& call, absl::Time now,
                         std::string* run_id) {
  run_id->clear();
  // The stored row says which run the call belongs to and what is reserved for it.
  ASSIGN_OR_RETURN(const LlmCallRow kept, ReadCall(database, call.call_id));
  if (kept.answered) return absl::OkStatus();
  const std::string& owner = kept.run_id;
  RETURN_IF_ERROR(database
                      .Prepare("UPDATE llm_calls SET replied_unix_us = ?, error = ?, "
                               "finish_reason = ?, reply_model = ?, input_tokens = ?, "
                               "output_tokens = ?, reply = ?, uncached_input = ?, cache_read = ?, "
                               "cache_write_5m = ?, cache_write_1h = ?, visible_output = ?, "
                               "reasoning_output = ?, cost_nano = ?, cost_basis = ? "
                               "WHERE call_id = ?")
                      .Time(GivenOr(call.replied, now))
                      .Text(call.error)
                      .Text(call.finish_reason)
                      .Text(call.reply_model)
                      .Int(call.input_tokens)
                      .Int(call.output_tokens)
                      .Text(call.reply)
                      .Int(call.usage.uncached_input)
                      .Int(call.usage.cache_read)
                      .Int(call.usage.cache_write_5m)
                      .Int(call.usage.cache_write_1h)
                      .Int(call.usage.visible_output)
                      .Int(call.usage.reasoning_output)
                      .Int(call.cost_nano)
                      .Text(call.cost_basis)
                      .Text(call.call_id)
                      .Run());
  RETURN_IF_ERROR(ledger_rows::Settle(database, kept, call.counted_tokens, call.cost_nano));
  ASSIGN_OR_RETURN(
      const bool arrived,
      run_rows::InsertArrival(database, owner, Arrival::Kind::kReply, call.call_id, ""));
  if (arrived) *run_id = owner;
  return absl::OkStatus();
}

absl::Status SaveProviderState(Database& database, const std::string& call_id,
                               const std::string& state) {
  RETURN_IF_ERROR(database
                      .Prepare("UPDATE llm_calls SET provider_state = ? "
                               "WHERE call_id = ? AND replied_unix_us IS NULL")
                      .Text(state)
                      .Text(call_id)
                      .Run());
  if (database.changes() > 0) return absl::OkStatus();
  return ReadCall(database, call_id).status();
}

absl::StatusOr<LlmCallRow> ReadCall(Database& database, const std::string& call_id) {
  Statement select = database.Prepare(absl::StrCat(kCallColumns, "WHERE call_id = ?"));
  ASSIGN_OR_RETURN(const bool found, select.Text(call_id).Next());
  if (!found) return absl::NotFoundError(absl::StrCat("no call \"", call_id, "\""));
  return CallAt(select);
}

absl::StatusOr<std::vector<LlmCallRow>> ReadUnansweredCalls(Database& database,
                                                            const std::string& run_id) {
  Statement select = database.Prepare(
      absl::StrCat(kCallColumns, "WHERE run_id = ? AND replied_unix_us IS NULL ORDER BY number"));
  select.Text(run_id);
  std::vector<LlmCallRow> calls;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return calls;
    calls.push_back(CallAt(select));
  }
}

absl::Status InsertCandidate(Database& database, const CandidateRow& candidate, absl::Time now) {
  RETURN_IF_ERROR(database
                      .Prepare("INSERT INTO candidate_sources (candidate_id, language, "
                               "created_unix_us, sources) VALUES (?, ?, ?, ?) "
                               "ON CONFLICT (candidate_id) DO NOTHING")
                      .Text(candidate.candidate_id)
                      .Text(v1::Language_Name(candidate.sources.language()))
                      .Time(now)
                      .Proto(candidate.sources)
                      .Run());
  return database
      .Prepare(
          "INSERT INTO candidates (run_id, candidate_id, node_id, parent_candidate_id, "
          "call_id, cycle, round, attempt, job_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
          "ON CONFLICT (run_id, candidate_id) DO UPDATE SET job_id = excluded.job_id "
          "WHERE excluded.job_id <> ''")
      .Text(candidate.run_id)
      .Text(candidate.candidate_id)
      .Text(candidate.node_id)
      .Text(candidate.parent_candidate_id)
      .Text(candidate.call_id)
      .Int(candidate.cycle)
      .Int(candidate.round)
      .Int(candidate.attempt)
      .Text(candidate.job_id)
      .Run();
}

absl::StatusOr<CandidateRow> ReadCandidate(Database& database, const std::string& run_id,
                                           const std::string& prefix) {
  if (prefix.empty()) return absl::InvalidArgumentError("candidate_id is empty");
  Statement select = database.Prepare(
      absl::StrCat(kCandidateColumns,
                   "WHERE c.run_id = ?1 AND substr(c.candidate_id, 1, length(?2)) = ?2 "
                   "ORDER BY c.candidate_id = ?2 DESC, c.candidate_id LIMIT 2"));
  ASSIGN_OR_RETURN(const bool found, select.Text(run_id).Text(prefix).Next());
  if (!found) {
    return absl::NotFoundError(absl::StrCat("run ", run_id, " has no candidate \"", prefix, "\""));
  }
  CandidateRow candidate;
  RETURN_IF_ERROR(ReadCandidateAt(select, run_id, &candidate));
  if (candidate.candidate_id == prefix) return candidate;
  ASSIGN_OR_RETURN(const bool another, select.Next());
  if (another) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", prefix, "\" is the beginning of several candidates, e.g. ",
                     candidate.candidate_id, " and ", select.TextAt(0)));
  }
  return candidate;
}

absl::StatusOr<std::vector<CandidateRow>> ListCandidates(Database& database,
                                                         const std::string& run_id) {
  Statement select =
      database.Prepare(absl::StrCat(kCandidateColumns, "WHERE c.run_id = ? ORDER BY c.number"));
  select.Text(run_id);
  std::vector<CandidateRow> candidates;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return candidates;
    RETURN_IF_ERROR(ReadCandidateAt(select, run_id, &candidates.emplace_back()));
  }
}

}  // namespace ksearch::proposal_rows

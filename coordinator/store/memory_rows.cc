#include "coordinator/store/memory_rows.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch::memory_rows {
namespace {

// A condition for each field that the filter gives, and what to bind to it, in one order.
struct Where {
  std::string sql;  // " WHERE a = ? AND ..."; empty: everything
  std::vector<std::string> values;
};

Where WhereOf(const GainFilter& filter) {
  Where where;
  std::vector<std::string> conditions;
  const auto add = [&](absl::string_view condition, const std::string& value) {
    if (value.empty()) return;
    conditions.emplace_back(condition);
    where.values.push_back(value);
  };
  add("run_id = ?", filter.run_id);
  add("task = ?", filter.task);
  add("op_type = ?", filter.op_type);
  add("architecture = ?", filter.architecture);
  add("benchmark = ?", filter.benchmark);
  add("benchmark <> ?", filter.not_of_benchmark);
  add("experiment <> ?", filter.not_of_experiment);
  if (filter.device != v1::DEVICE_CLASS_UNSPECIFIED) {
    add("device = ?", v1::DeviceClass_Name(filter.device));
  }
  if (filter.language != v1::LANGUAGE_UNSPECIFIED) {
    add("language = ?", v1::Language_Name(filter.language));
  }
  if (!conditions.empty()) where.sql = absl::StrCat(" WHERE ", absl::StrJoin(conditions, " AND "));
  return where;
}

// Values that only a newer version knows count as unspecified.
template <typename Enum>
Enum Parsed(const std::string& name, bool (*parse)(const std::string&, Enum*)) {
  Enum value = static_cast<Enum>(0);
  return parse(name, &value) ? value : static_cast<Enum>(0);
}

v1::MeasuredGain GainAt(const Statement& row) {
  v1::MeasuredGain gain;
  gain.set_run_id(row.TextAt(0));
  gain.set_candidate_id(row.TextAt(1));
  gain.set_task(row.TextAt(2));
  gain.set_op_type(row.TextAt(3));
  gain.set_benchmark(row.TextAt(4));
  gain.set_experiment(row.TextAt(5));
  gain.set_device(Parsed<v1::DeviceClass>(row.TextAt(6), [](const auto& name, auto* value) {
    return v1::DeviceClass_Parse(name, value);
  }));
  gain.set_architecture(row.TextAt(7));
  gain.set_language(Parsed<v1::Language>(row.TextAt(8), [](const auto& name, auto* value) {
    return v1::Language_Parse(name, value);
  }));
  gain.set_bottleneck(Parsed<v1::Bottleneck>(row.TextAt(9), [](const auto& name, auto* value) {
    return v1::Bottleneck_Parse(name, value);
  }));
  gain.set_intent(Parsed<v1::IntentKind>(row.TextAt(10), [](const auto& name, auto* value) {
    return v1::IntentKind_Parse(name, value);
  }));
  gain.set_over_baseline(row.IntAt(11) != 0);
  gain.set_passed(row.IntAt(12) != 0);
  if (gain.passed()) gain.set_speedup(row.RealAt(13));
  *gain.mutable_recorded_at() = ToProto(row.TimeAt(14));
  return gain;
}

}  // namespace

absl::Status Insert(Database& database, const v1::MeasuredGain& gain, absl::Time now) {
  Statement insert = database.Prepare(
      "INSERT INTO memory_gains (run_id, candidate_id, task, op_type, benchmark, experiment, "
      "device, architecture, language, bottleneck, intent, over_baseline, passed, "
      "recorded_unix_us, speedup) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT (run_id, candidate_id) DO NOTHING");
  insert.Text(gain.run_id())
      .Text(gain.candidate_id())
      .Text(gain.task())
      .Text(gain.op_type())
      .Text(gain.benchmark())
      .Text(gain.experiment())
      .Text(v1::DeviceClass_Name(gain.device()))
      .Text(gain.architecture())
      .Text(v1::Language_Name(gain.language()))
      .Text(v1::Bottleneck_Name(gain.bottleneck()))
      .Text(v1::IntentKind_Name(gain.intent()))
      .Int(gain.over_baseline() ? 1 : 0)
      .Int(gain.passed() ? 1 : 0)
      .Time(now);
  if (gain.passed()) {
    insert.Real(gain.speedup());
  } else {
    insert.Null();
  }
  return insert.Run();
}

absl::Status Refuse(Database& database, const std::string& run_id,
                    const std::string& candidate_id) {
  return database
      .Prepare(
          "UPDATE memory_gains SET passed = 0, speedup = NULL WHERE run_id = ? AND "
          "candidate_id = ?")
      .Text(run_id)
      .Text(candidate_id)
      .Run();
}

absl::StatusOr<std::vector<v1::MeasuredGain>> Read(Database& database, const GainFilter& filter,
                                                   int limit) {
  const Where where = WhereOf(filter);
  Statement select = database.Prepare(
      absl::StrCat("SELECT run_id, candidate_id, task, op_type, benchmark, experiment, device, "
                   "architecture, language, bottleneck, intent, over_baseline, passed, speedup, "
                   "recorded_unix_us FROM memory_gains",
                   where.sql, " ORDER BY number DESC LIMIT ?"));
  for (const std::string& value : where.values) select.Text(value);
  select.Int(limit > 0 ? limit : -1);  // SQLite takes a negative LIMIT as none
  std::vector<v1::MeasuredGain> gains;
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Next());
    if (!row) return gains;
    gains.push_back(GainAt(select));
  }
}

absl::StatusOr<int64_t> Forget(Database& database, const GainFilter& filter) {
  const Where where = WhereOf(filter);
  Statement remove = database.Prepare(absl::StrCat("DELETE FROM memory_gains", where.sql));
  for (const std::string& value : where.values) remove.Text(value);
  RETURN_IF_ERROR(remove.Run());
  return database.changes();
}

}  // namespace ksearch::memory_rows

#include "cli/chrome_trace.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr size_t kShownId = 12;

// One event of the format, as JSON.
class TraceEvent {
 public:
  TraceEvent(const std::string& name, const char* phase, int process, int thread) {
    Text("name", name);
    Text("ph", phase);
    Number("pid", process);
    Number("tid", thread);
  }
  TraceEvent& Text(const std::string& field, const std::string& value) {
    (*json_.mutable_fields())[field].set_string_value(value);
    return *this;
  }
  TraceEvent& Number(const std::string& field, double value) {
    (*json_.mutable_fields())[field].set_number_value(value);
    return *this;
  }
  TraceEvent& Arguments(const Fields& arguments) {
    auto& fields = *(*json_.mutable_fields())["args"].mutable_struct_value()->mutable_fields();
    for (const auto& [name, value] : arguments) {
      if (!value.empty()) fields[name].set_string_value(value);
    }
    return *this;
  }
  std::string Json() const { return ToJson(json_, /*with_defaults=*/false, /*pretty=*/false); }

 private:
  google::protobuf::Struct json_;
};

// A process of the trace: its threads are rows, in groups that are filled from the top.
class Process {
 public:
  Process(int number, const std::string& name, std::vector<std::string>* events)
      : number_(number), events_(events) {
    Name("process_name", name, 0);
  }

  // The first row of a group that is free between the two moments; reserves it.
  int Row(const std::string& group, absl::Time begin, absl::Time end) {
    std::vector<std::pair<int, absl::Time>>& rows = rows_[group];
    for (auto& [row, free_from] : rows) {
      if (free_from > begin) continue;
      free_from = end;
      return row;
    }
    const int row = ++last_row_;
    rows.emplace_back(row, end);
    Name("thread_name", rows.size() == 1 ? group : absl::StrCat(group, " (", rows.size(), ")"),
         row);
    return row;
  }
  void Span(const std::string& name, const char* category, int row, absl::Time origin,
            absl::Time begin, absl::Time end, const Fields& arguments) {
    if (end <= begin) return;
    events_->push_back(TraceEvent(name, "X", number_, row)
                           .Text("cat", category)
                           .Number("ts", absl::ToDoubleMicroseconds(begin - origin))
                           .Number("dur", absl::ToDoubleMicroseconds(end - begin))
                           .Arguments(arguments)
                           .Json());
  }

 private:
  void Name(const char* what, const std::string& name, int row) {
    events_->push_back(TraceEvent(what, "M", number_, row).Arguments({{"name", name}}).Json());
  }

  const int number_;
  std::vector<std::string>* const events_;
  std::map<std::string, std::vector<std::pair<int, absl::Time>>> rows_;
  int last_row_ = 0;
};

std::string Short(const std::string& id) { return id.substr(0, kShownId); }

std::string Word(std::string name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

// The span in which the entry is drawn; empty if it has no end.
std::pair<absl::Time, absl::Time> SpanOf(const v1::TimelineEntry& entry) {
  if (entry.has_call()) {
    const v1::TimedCall& call = entry.call();
    const absl::Time begin = FromProto(call.has_sent_at() ? call.sent_at() : call.created_at());
    return {begin, call.has_answered_at() ? FromProto(call.answered_at()) : begin};
  }
  const v1::TimedLease& lease = entry.lease();
  const absl::Time begin = FromProto(lease.started_at());
  return {begin, lease.has_ended_at() ? FromProto(lease.ended_at()) : begin};
}

void DrawCall(const v1::TimedCall& call, std::pair<absl::Time, absl::Time> span, absl::Time origin,
              Process* models) {
  const v1::CallDetail& detail = call.call();
  const std::string model = detail.model().empty() ? "model" : detail.model();
  models->Span(detail.purpose(), "model", models->Row(model, span.first, span.second), origin,
               span.first, span.second,
               {{"call", detail.call_id()},
                {"node", call.node_id()},
                {"input_tokens", absl::StrCat(detail.input_tokens())},
                {"output_tokens", absl::StrCat(detail.output_tokens())},
                {"nano_usd", absl::StrCat(detail.nano_usd())},
                {"error", call.error()}});
}

void DrawLease(const v1::TimedLease& lease, std::pair<absl::Time, absl::Time> span,
               absl::Time origin, Process* worker) {
  const absl::Time begin = span.first, end = span.second;
  const v1::StageTimes& stages = lease.stages();
  const std::string kind = Word(v1::JobKind_Name(lease.kind()), "JOB_KIND_");
  const std::string name = absl::StrCat(kind, " ", Short(lease.candidate_id()));
  const Fields arguments = {{"job", lease.job_id()},
                            {"asked_for_as", lease.tag()},
                            {"candidate", lease.candidate_id()},
                            {"outcome", Word(v1::Outcome_Name(lease.outcome()), "OUTCOME_")}};
  const int row = worker->Row("jobs", begin, end);
  worker->Span(name, "job", row, origin, begin, end, arguments);
  absl::Time at = begin;
  const auto stage = [&](const char* what, const google::protobuf::Duration& takes) {
    const absl::Time until = std::min(at + FromProto(takes), end);
    worker->Span(what, "stage", row, origin, at, until, {});
    at = until;
  };
  stage("queued", stages.queued());
  stage("build", stages.build());
  stage("wait for device", stages.wait_device());
  const absl::Time device_from = at;
  const absl::Time device_until = std::min(at + FromProto(stages.device_held()), end);
  if (device_until <= device_from) return;
  stage("check", stages.check());
  stage("measure", stages.measure());
  const std::string device =
      absl::StrCat("device ", lease.device_id().empty() ? "" : Short(lease.device_id()));
  worker->Span(name, "device", worker->Row(device, device_from, device_until), origin, device_from,
               device_until, arguments);
}

}  // namespace

std::string ChromeTrace(const std::string& run_id, const std::vector<v1::TimelineEntry>& entries) {
  struct Drawn {
    const v1::TimelineEntry* entry;
    std::pair<absl::Time, absl::Time> span;
  };
  std::vector<Drawn> drawn;
  for (const v1::TimelineEntry& entry : entries) {
    const auto span = SpanOf(entry);
    if (span.second > span.first) drawn.push_back({&entry, span});
  }
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const Drawn& a, const Drawn& b) { return a.span.first < b.span.first; });
  const absl::Time origin = drawn.empty() ? absl::UnixEpoch() : drawn.front().span.first;

  std::vector<std::string> events;
  std::map<std::string, Process> processes;  // by worker; "": the models
  const auto process = [&](const std::string& key, const std::string& name) {
    const int number = static_cast<int>(processes.size()) + 1;
    return &processes.try_emplace(key, number, name, &events).first->second;
  };
  for (const Drawn& each : drawn) {
    if (each.entry->has_call()) {
      DrawCall(each.entry->call(), each.span, origin, process("", "models"));
    } else {
      const v1::TimedLease& lease = each.entry->lease();
      const std::string& name =
          lease.worker_name().empty() ? lease.worker_id() : lease.worker_name();
      DrawLease(lease, each.span, origin,
                process(lease.worker_id(), absl::StrCat("worker ", name)));
    }
  }
  std::string json = "{\"displayTimeUnit\": \"ms\", \"otherData\": ";
  google::protobuf::Struct facts;
  (*facts.mutable_fields())["run"].set_string_value(run_id);
  (*facts.mutable_fields())["begins"].set_string_value(
      absl::FormatTime(absl::RFC3339_full, origin, absl::UTCTimeZone()));
  absl::StrAppend(&json, ToJson(facts, false, false), ", \"traceEvents\": [");
  for (size_t i = 0; i < events.size(); ++i) {
    absl::StrAppend(&json, i == 0 ? "\n" : ",\n", events[i]);
  }
  json += "\n]}\n";
  return json;
}

}  // namespace ksearch

#include "coordinator/suites/flashinfer/flashinfer_traces.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "coordinator/tasks/located_json.h"

namespace ksearch {
namespace {

using Kind = LocatedJson::Kind;

constexpr char kPassed[] = "PASSED";

const LocatedJson* ObjectIn(const LocatedJson* json, absl::string_view name) {
  if (json == nullptr || json->kind != Kind::kObject) return nullptr;
  return json->Find(name);
}

std::string TextIn(const LocatedJson* json, absl::string_view name) {
  const LocatedJson* const value = ObjectIn(json, name);
  return value != nullptr && value->kind == Kind::kString ? value->text : "";
}

// 0 for anything but a positive, finite number.
double NumberIn(const LocatedJson* json, absl::string_view name) {
  const LocatedJson* const value = ObjectIn(json, name);
  if (value == nullptr) return 0;
  const double number = value->kind == Kind::kInteger ? static_cast<double>(value->integer)
                        : value->kind == Kind::kFloat ? value->number
                                                      : 0;
  return std::isfinite(number) && number > 0 ? number : 0;
}

}  // namespace

std::vector<FlashInferTrace> ParseFlashInferTraces(absl::string_view text, absl::string_view file,
                                                   absl::string_view definition) {
  std::vector<FlashInferTrace> traces;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    // Most lines of a large file are of other definitions.
    if (!absl::StrContains(line, definition)) continue;
    const auto json = ParseLocatedJson(line, file);
    if (!json.ok() || TextIn(&*json, "definition") != definition) continue;
    const LocatedJson* const evaluation = ObjectIn(&*json, "evaluation");
    FlashInferTrace trace;
    trace.solution = TextIn(&*json, "solution");
    trace.workload_uuid = TextIn(ObjectIn(&*json, "workload"), "uuid");
    trace.hardware = TextIn(ObjectIn(evaluation, "environment"), "hardware");
    trace.status = TextIn(evaluation, "status");
    if (trace.solution.empty() || trace.workload_uuid.empty() || trace.status.empty()) continue;
    // The hardware's name is shown to users.
    if (std::any_of(trace.hardware.begin(), trace.hardware.end(),
                    [](unsigned char c) { return absl::ascii_iscntrl(c); })) {
      continue;
    }
    if (trace.status == kPassed) {
      const LocatedJson* const performance = ObjectIn(evaluation, "performance");
      trace.latency_ms = NumberIn(performance, "latency_ms");
      trace.reference_latency_ms = NumberIn(performance, "reference_latency_ms");
    }
    traces.push_back(std::move(trace));
  }
  return traces;
}

std::string RecordOf(const std::vector<FlashInferTrace>& traces, absl::string_view solution) {
  struct Record {
    std::set<std::string> all, passed;
    double speedups = 0;
    int timed = 0;
  };
  std::map<std::string, Record> by_hardware;
  for (const FlashInferTrace& trace : traces) {
    if (trace.solution != solution) continue;
    Record& record = by_hardware[trace.hardware];
    record.all.insert(trace.workload_uuid);
    if (trace.status != kPassed) continue;
    record.passed.insert(trace.workload_uuid);
    if (trace.latency_ms > 0 && trace.reference_latency_ms > 0) {
      record.speedups += trace.reference_latency_ms / trace.latency_ms;
      ++record.timed;
    }
  }
  std::string text;
  for (const auto& [hardware, record] : by_hardware) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", record.passed.size(), " of ",
                    record.all.size(), " passed on ", hardware);
    if (record.timed > 0) {
      absl::StrAppendFormat(&text, ", %.2fx its reference", record.speedups / record.timed);
    }
  }
  return text;
}

}  // namespace ksearch

#include "cli/chrome_trace.h"

#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

const absl::Time kBegin = absl::FromUnixSeconds(1'790'000'000);

google::protobuf::Timestamp At(double seconds) { return ToProto(kBegin + absl::Seconds(seconds)); }

v1::TimelineEntry Call(double from, double until) {
  v1::TimelineEntry entry;
  v1::TimedCall* const call = entry.mutable_call();
  call->mutable_call()->set_model("m");
  call->mutable_call()->set_purpose("action");
  *call->mutable_created_at() = At(from);
  if (until > from) *call->mutable_answered_at() = At(until);
  return entry;
}

v1::TimelineEntry Lease(const std::string& worker, double from, double build, double wait,
                        double device) {
  v1::TimelineEntry entry;
  v1::TimedLease* const lease = entry.mutable_lease();
  lease->set_worker_id(worker);
  lease->set_worker_name("name of \"" + worker + "\"");
  lease->set_kind(v1::JOB_KIND_SCREEN);
  lease->set_candidate_id("0123456789abcdef");
  lease->set_device_id("GPU-1");
  lease->set_outcome(v1::OUTCOME_PASSED);
  *lease->mutable_started_at() = At(from);
  *lease->mutable_ended_at() = At(from + build + wait + device);
  *lease->mutable_stages()->mutable_build() = ToProto(absl::Seconds(build));
  *lease->mutable_stages()->mutable_wait_device() = ToProto(absl::Seconds(wait));
  *lease->mutable_stages()->mutable_device_held() = ToProto(absl::Seconds(device));
  *lease->mutable_stages()->mutable_check() = ToProto(absl::Seconds(device / 2));
  *lease->mutable_stages()->mutable_measure() = ToProto(absl::Seconds(device / 2));
  return entry;
}

struct Span {
  std::string name, category;
  double from = 0, until = 0;
};

// (process, thread) -> spans; and what both are called.
struct Trace {
  std::map<std::pair<int, int>, std::vector<Span>> rows;
  std::map<std::pair<int, int>, std::string> names;  // thread 0: the process
  google::protobuf::Struct json;
};

Trace Parse(const std::string& text) {
  Trace trace;
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, &trace.json);
  EXPECT_TRUE(parsed.ok()) << parsed.ToString();
  for (const auto& value : trace.json.fields().at("traceEvents").list_value().values()) {
    const auto& fields = value.struct_value().fields();
    const std::pair<int, int> row = {static_cast<int>(fields.at("pid").number_value()),
                                     static_cast<int>(fields.at("tid").number_value())};
    if (fields.at("ph").string_value() == "M") {
      trace.names[row] = fields.at("args").struct_value().fields().at("name").string_value();
      continue;
    }
    EXPECT_EQ(fields.at("ph").string_value(), "X");
    const double from = fields.at("ts").number_value();
    trace.rows[row].push_back({fields.at("name").string_value(), fields.at("cat").string_value(),
                               from, from + fields.at("dur").number_value()});
  }
  return trace;
}

TEST(ChromeTraceTest, EveryRowIsNestedAndNamed) {
  std::vector<v1::TimelineEntry> entries;
  for (int i = 0; i < 40; ++i) {
    entries.push_back(Call(i * 0.7, i * 0.7 + 5));
    entries.push_back(Lease(i % 2 == 0 ? "w1" : "w2", i * 1.1, 3, 0.5, 1));
  }
  entries.push_back(Call(3, 3));  // goes on
  const Trace trace = Parse(ChromeTrace("run \"1\"", entries));
  int calls = 0, builds = 0, devices = 0;
  for (const auto& [row, spans] : trace.rows) {
    EXPECT_EQ(trace.names.count(row), 1u) << row.first << " " << row.second;
    EXPECT_EQ(trace.names.count({row.first, 0}), 1u);
    for (size_t i = 0; i < spans.size(); ++i) {
      calls += spans[i].category == "model";
      builds += spans[i].name == "build";
      devices += spans[i].category == "device";
      EXPECT_GE(spans[i].from, 0);
      for (size_t j = 0; j < i; ++j) {
        const bool apart =
            spans[j].until <= spans[i].from + 1 || spans[i].until <= spans[j].from + 1;
        const bool inside =
            spans[i].from >= spans[j].from - 1 && spans[i].until <= spans[j].until + 1;
        EXPECT_TRUE(apart || inside) << spans[i].name << " crosses " << spans[j].name;
      }
    }
  }
  EXPECT_EQ(calls, 40);
  EXPECT_EQ(builds, 40);
  EXPECT_EQ(devices, 40);
  std::set<std::string> processes;
  for (const auto& [row, name] : trace.names) {
    if (row.second == 0) processes.insert(name);
  }
  EXPECT_THAT(processes, testing::UnorderedElementsAre("models", "worker name of \"w1\"",
                                                       "worker name of \"w2\""));
}

TEST(ChromeTraceTest, TimesAreMicrosecondsFromTheFirstEntry) {
  const Trace trace = Parse(ChromeTrace("r", {Call(10, 12), Lease("w", 11, 1, 0, 2)}));
  std::map<std::string, Span> by_name;
  for (const auto& [row, spans] : trace.rows) {
    for (const Span& span : spans) by_name[span.category + " " + span.name] = span;
  }
  EXPECT_DOUBLE_EQ(by_name["model action"].from, 0);
  EXPECT_DOUBLE_EQ(by_name["model action"].until, 2e6);
  EXPECT_DOUBLE_EQ(by_name["stage build"].from, 1e6);
  EXPECT_DOUBLE_EQ(by_name["device screen 0123456789ab"].from, 2e6);
  EXPECT_DOUBLE_EQ(by_name["device screen 0123456789ab"].until, 4e6);
  EXPECT_EQ(by_name.count("stage wait for device"), 0u) << "nothing that takes no time";
}

TEST(ChromeTraceTest, RunWithoutAnythingIsATraceToo) {
  EXPECT_TRUE(Parse(ChromeTrace("r", {})).rows.empty());
}

}  // namespace
}  // namespace ksearch

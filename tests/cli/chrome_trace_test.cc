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
#include "tests/cli/played_timeline.h"

namespace ksearch {
namespace {

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
  const Trace trace = Parse(ChromeTrace("run \"1\"", PlayedTimeline()));
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

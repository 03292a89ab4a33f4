#include "coordinator/events/sinks/run_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "coordinator/events/event_feed.h"
#include "coordinator/events/sinks/run_recorder.h"
#include "tests/coordinator/events/sinks/sample_runs.h"

namespace ksearch::sinks {
namespace {

using testing::MatchesRegex;

TEST(RunProgressTest, AddsUpWhatHappened) {
  EventFeed feed;
  SampleRuns runs(&feed);
  runs.AddSearch("a", 4, /*goes_on=*/true);
  RunProgress progress;
  int drawn = 0;
  const std::vector<v1::RunEvent> events = runs.Reader().events("a").value();
  for (const v1::RunEvent& event : events) drawn += progress.Add(event);
  EXPECT_EQ(drawn, 6) << "four candidates and two confirmations";
  std::map<std::string, double> values;
  for (const auto& [name, value] : progress.Values()) values[name] = value;
  EXPECT_EQ(values["round"], 4);
  EXPECT_EQ(values["candidates/passed"], 3);
  EXPECT_EQ(values["candidates/failed"], 1);
  EXPECT_EQ(values["failures/incorrect"], 1);
  EXPECT_EQ(values["confirmations/accepted"], 2);
  EXPECT_EQ(values["best/screened_speedup"], 3);
  EXPECT_EQ(values["best/speedup"], 2.5);
  EXPECT_EQ(values["best/speedup_low"], 2.4);
  EXPECT_EQ(values["candidate/speedup"], 3) << "of the last one";
  EXPECT_DOUBLE_EQ(values["cost/usd"], 4 * 0.0025) << "a call counts once";
  EXPECT_EQ(values["cost/input_tokens"], 4000);
  EXPECT_DOUBLE_EQ(values["cost/device_seconds"], 3);
  EXPECT_EQ(progress.best_candidate(), SampleId("a2"));
  EXPECT_LE(values.size(), 40u);

  v1::RunEvent ended;
  ended.set_kind(v1::RunEvent::RUN_ENDED);
  ended.mutable_run()->set_nano_usd(7'000'000'000);
  EXPECT_TRUE(progress.Add(ended));
  values.clear();
  for (const auto& [name, value] : progress.Values()) values[name] = value;
  EXPECT_EQ(values["cost/usd"], 7) << "with the calls that no event names";
  EXPECT_EQ(values.count("candidate/speedup"), 0u);
}

TEST(SafeNameTest, IsAFileNameAndTellsNamesApart) {
  EXPECT_EQ(SafeName("matmul_f32-711943"), "matmul_f32-711943");
  for (const std::string& text :
       std::initializer_list<std::string>{"", ".", "..", "a/b", "../x", std::string(300, 'a'),
                                          std::string("a\0b", 3), "-/-", "\xFF"}) {
    EXPECT_THAT(SafeName(text), MatchesRegex("[A-Za-z0-9_-][A-Za-z0-9_.-]{0,59}")) << text;
  }
  EXPECT_NE(SafeName("a/b"), SafeName("a.b"));
  EXPECT_NE(SafeName("a/b"), SafeName("a:b"));
  EXPECT_NE(SafeName(std::string(300, 'a')), SafeName(std::string(301, 'a')));
}

}  // namespace
}  // namespace ksearch::sinks

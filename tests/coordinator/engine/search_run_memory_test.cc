#include <cmath>

#include "tests/coordinator/engine/search_run_fixture.h"

namespace ksearch {
namespace {

// The programs are numbers; candidate n is n times as fast as the baseline.
class SearchRunMemoryTest : public SearchRunTest {
 protected:
  SearchRunMemoryTest() {
    row_.run_id = row_.request_id = "remembering";
    row_.config.set_task("t");
    row_.config.set_language(v1::LANGUAGE_CPP);
    row_.config.mutable_memory()->set_mode(v1::MEMORY_MODE_READ_WRITE);
    EXPECT_TRUE(store_.CreateRun(row_).ok());
  }
  void RunToEndOf(const std::string& run_id) {
    const auto run = NewRun(6, {}, run_id);
    ASSERT_TRUE(run->Begin().ok());
    RunToEnd(run.get());
  }
  // Gains by the candidate's content; negative: withdrawn.
  std::map<std::string, double> Gains() {
    std::map<std::string, double> gains;
    const auto read = store_.ReadGains({}, 0);
    for (const v1::MeasuredGain& gain : *read) {
      const auto candidate = store_.ReadCandidate(gain.run_id(), gain.candidate_id());
      EXPECT_TRUE(candidate.ok()) << candidate.status();
      const std::string& content = candidate->sources.files(0).content();
      EXPECT_FALSE(gains.contains(content)) << "recorded twice: " << content;
      gains[content] = gain.passed() ? std::round(1e9 * gain.speedup()) / 1e9 : -1;
    }
    return gains;
  }
};

TEST_F(SearchRunMemoryTest, EveryScreenedProgramIsAGain) {
  RunToEndOf("remembering");
  EXPECT_EQ(Gains(), (std::map<std::string, double>{
                         {"1", 1}, {"2", 2}, {"3", 3}, {"4", 4}, {"5", 5}, {"6", 6}}));
}

TEST_F(SearchRunMemoryTest, KilledAfterEveryStepItIsRecordedOnce) {
  for (int life = 0; life < 200; ++life) {
    const int seen = arrivals();
    const auto run = NewRun(6, {}, "remembering");
    ASSERT_TRUE(run->Begin().ok());
    const auto progress = run->ApplyNext();
    ASSERT_TRUE(progress.ok()) << progress.status();
    if (*progress == SearchRun::Progress::kEnded) break;
    if (*progress == SearchRun::Progress::kWaiting) AwaitArrivals(seen);
  }
  EXPECT_EQ(store_.ReadRun("remembering")->status.state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(Gains().size(), 6u);
}

TEST_F(SearchRunMemoryTest, WhatAnExaminationRefusesGainsNothing) {
  examines_ = true;
  workers_.Refuse("6");
  RunToEndOf("remembering");
  EXPECT_EQ(Gains().at("6"), -1);
  EXPECT_EQ(Gains().at("5"), 5);
}

TEST_F(SearchRunMemoryTest, OnlyReadWriteAdds) {
  for (const auto mode : {v1::MEMORY_MODE_UNSPECIFIED, v1::MEMORY_MODE_OFF, v1::MEMORY_MODE_READ}) {
    row_.run_id = row_.request_id = v1::MemoryMode_Name(mode);
    row_.config.mutable_memory()->set_mode(mode);
    ASSERT_TRUE(store_.CreateRun(row_).ok());
    RunToEndOf(row_.run_id);
  }
  EXPECT_TRUE(Gains().empty());
}

TEST_F(SearchRunMemoryTest, ARunTellsWhatItRead) {
  row_.run_id = row_.request_id = "reading";
  row_.config.mutable_memory_snapshot()->add_priors();
  row_.config.mutable_memory_snapshot()->set_gains(12);
  ASSERT_TRUE(store_.CreateRun(row_).ok());
  RunToEndOf("reading");
  const auto events = store_.ReadEvents("reading", 0, 1000);
  ASSERT_GT(events->size(), 2u);
  EXPECT_EQ((*events)[1].text(), "memory: 1 priors of 12 measured gains");
}

}  // namespace
}  // namespace ksearch

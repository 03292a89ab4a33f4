#include "common/fair_turns.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using Line = FairTurns::Line;

// Waiting jobs, and the order of their turns.
class FairTurnsTest : public ::testing::Test {
 protected:
  void Ask(const std::string& run_id, const std::string& job,
           absl::Duration expected = absl::Seconds(10), Line line = Line::kUsual) {
    waiting_.emplace_back(turns_.Next(run_id, line, expected), job);
  }
  std::string Take() {
    const auto first = std::min_element(waiting_.begin(), waiting_.end());
    if (first == waiting_.end()) return "";
    turns_.Reached(first->first);
    const std::string job = first->second;
    waiting_.erase(first);
    return job;
  }
  std::vector<std::string> Take(int count) {
    std::vector<std::string> jobs;
    for (int i = 0; i < count; ++i) jobs.push_back(Take());
    return jobs;
  }

  FairTurns turns_;
  std::vector<std::pair<Turn, std::string>> waiting_;
};

TEST_F(FairTurnsTest, OneRunIsServedOldestFirst) {
  for (const char* job : {"a1", "a2", "a3"}) Ask("a", job);
  EXPECT_THAT(Take(3), ElementsAre("a1", "a2", "a3"));
}

TEST_F(FairTurnsTest, ARunThatComesLateDoesNotWaitForAllJobsOfAnEarlierOne) {
  for (int i = 1; i <= 100; ++i) Ask("a", absl::StrCat("a", i));
  EXPECT_THAT(Take(2), ElementsAre("a1", "a2"));
  Ask("b", "b1");
  Ask("b", "b2");
  EXPECT_THAT(Take(5), ElementsAre("b1", "a3", "b2", "a4", "a5"));
}

TEST_F(FairTurnsTest, PrioritiesAreShares) {
  turns_.SetPriority("high", 30);
  for (int i = 1; i <= 100; ++i) Ask("high", "high");
  for (int i = 1; i <= 100; ++i) Ask("plain", "plain");
  const std::vector<std::string> taken = Take(40);
  EXPECT_EQ(std::count(taken.begin(), taken.end(), "high"), 30);
}

TEST_F(FairTurnsTest, ConfirmationsOfTheLeastRunDoNotStarve) {
  turns_.SetPriority("low", 1);
  turns_.SetPriority("high", 100);
  for (int i = 1; i <= 1000; ++i) Ask("high", "high");
  Take(100);
  for (int i = 1; i <= 20; ++i) {
    Ask("low", "screen");
    Ask("low", "confirm", absl::Seconds(10), Line::kConfirmations);
  }
  const std::vector<std::string> taken = Take(121);
  // Priority 10 beside 100: one in eleven, less the screenings of one in a hundred.
  EXPECT_GE(std::count(taken.begin(), taken.end(), "confirm"), 10);
  EXPECT_GE(std::count(taken.begin(), taken.end(), "screen"), 1);
  const auto first = std::find(taken.begin(), taken.end(), "confirm");
  EXPECT_LE(first - taken.begin(), 2) << "behind one job of each other line at most";
}

TEST_F(FairTurnsTest, SharesAreOfTimeAndNotOfJobs) {
  for (int i = 1; i <= 10; ++i) Ask("slow", "slow", absl::Seconds(30));
  for (int i = 1; i <= 30; ++i) Ask("fast", "fast", absl::Seconds(10));
  const std::vector<std::string> taken = Take(20);
  EXPECT_EQ(std::count(taken.begin(), taken.end(), "slow"), 5);
}

TEST_F(FairTurnsTest, ConfirmationsDoNotWaitForScreenings) {
  for (int i = 1; i <= 50; ++i) Ask("a", absl::StrCat("a", i));
  for (int i = 1; i <= 50; ++i) Ask("b", absl::StrCat("b", i));
  EXPECT_THAT(Take(2), ElementsAre("a1", "b1"));
  Ask("a", "confirmation", absl::Seconds(60), Line::kConfirmations);
  EXPECT_THAT(Take(3), ElementsAre("confirmation", "a2", "b2"));
  // Screenings do not starve because of confirmations, either.
  for (int i = 1; i <= 50; ++i) Ask("a", "again", absl::Seconds(10), Line::kConfirmations);
  const std::vector<std::string> taken = Take(30);
  EXPECT_GE(std::count_if(taken.begin(), taken.end(),
                          [](const std::string& job) { return job[0] == 'b'; }),
            10);
}

TEST_F(FairTurnsTest, WhoWasAloneOwesNothingLater) {
  for (int i = 1; i <= 50; ++i) {
    Ask("a", "a");
    Take();
    turns_.Restart();
  }
  Ask("a", "a51");
  Ask("b", "b1");
  Ask("a", "a52");
  Ask("b", "b2");
  EXPECT_THAT(Take(4), ElementsAre("a51", "b1", "a52", "b2"));
}

TEST_F(FairTurnsTest, JobsOfNoKnownLengthTakeTurnsToo) {
  for (int i = 1; i <= 3; ++i) Ask("a", absl::StrCat("a", i), absl::ZeroDuration());
  Ask("b", "b1", absl::InfiniteDuration());
  Ask("b", "b2", -absl::Seconds(5));
  EXPECT_THAT(Take(5), ElementsAre("a1", "b1", "a2", "a3", "b2"));
}

}  // namespace
}  // namespace ksearch

// A thousand workers on a simulated clock: each one's next action is known, so the actions of all
// of them in each tenth of a second can be counted.
#include "common/pace.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "tests/fakes/fake_clock.h"

namespace ksearch {
namespace {

constexpr int kWorkers = 1000;
constexpr absl::Duration kBin = absl::Milliseconds(100);

struct Worker {
  Pace pace;
  absl::Time due;
};

// How many act in each bin of `bins`, all having begun at the same instant.
std::vector<int> Acts(int bins, absl::Duration interval, bool jittered) {
  FakeClock clock;
  std::vector<Worker> workers;
  for (int i = 0; i < kWorkers; ++i) {
    Worker& worker = workers.emplace_back(Worker{Pace(static_cast<uint64_t>(i)), {}});
    worker.due = clock.SteadyNow() + (jittered ? worker.pace.First(interval) : interval);
  }
  std::vector<int> acts(static_cast<size_t>(bins));
  for (int& count : acts) {
    clock.Advance(kBin);
    for (Worker& worker : workers) {
      while (worker.due <= clock.SteadyNow()) {
        ++count;
        worker.due += jittered ? worker.pace.Next(interval) : interval;
      }
    }
  }
  return acts;
}

TEST(PaceTest, AThousandThatBeganTogetherNeverBeatInStep) {
  // Reports every 10 s: 11 in a tenth of a second, if they are spread. Ten minutes.
  const std::vector<int> acts = Acts(6000, absl::Seconds(10), /*jittered=*/true);
  EXPECT_LE(*std::max_element(acts.begin(), acts.end()), 40);
  // The first interval too, when all have just come.
  EXPECT_GE(*std::min_element(acts.begin(), acts.begin() + 100), 1);
  // Checks the count itself: without jitter all workers act at once.
  const std::vector<int> in_step = Acts(6000, absl::Seconds(10), /*jittered=*/false);
  EXPECT_EQ(*std::max_element(in_step.begin(), in_step.end()), kWorkers);
}

TEST(PaceTest, SignsOfLifeAreSpreadWithinASecond) {
  // Every 1.25 s: 89 in a tenth of a second, if they are spread.
  const std::vector<int> acts = Acts(600, absl::Milliseconds(1250), /*jittered=*/true);
  EXPECT_LE(*std::max_element(acts.begin(), acts.end()), 180);
}

TEST(PaceTest, NobodyIsLateAndNobodyIsInAHurry) {
  Pace pace(7);
  EXPECT_LT(pace.First(absl::Seconds(10)), absl::Seconds(10));
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration wait = pace.Next(absl::Seconds(10));
    EXPECT_GE(wait, absl::Seconds(8));
    EXPECT_LE(wait, absl::Seconds(10));
  }
}

}  // namespace
}  // namespace ksearch

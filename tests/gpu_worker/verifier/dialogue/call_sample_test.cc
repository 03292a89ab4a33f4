#include "gpu_worker/verifier/dialogue/call_sample.h"

#include <gtest/gtest.h>

#include <array>

namespace ksearch {
namespace {

TEST(CallSampleTest, AnyCallOfAnyBatchIsAsLikely) {
  constexpr std::array<size_t, 4> kBatches = {1, 5, 2, 8};
  constexpr int kRounds = 4000;
  std::array<std::array<int, 16>, 2> chosen = {};
  Rng rng(1);
  CallSample sample;
  for (int round = 0; round < kRounds; ++round) {
    sample.Begin(2);
    std::array<size_t, 2> places = {};
    size_t before = 0;
    for (const size_t calls : kBatches) {
      for (const CallSample::Choice& choice : sample.Add(calls, &rng)) {
        ASSERT_LT(choice.call, calls);
        places.at(choice.place) = before + choice.call;
      }
      before += calls;
    }
    for (size_t place = 0; place < 2; ++place) ++chosen[place][places[place]];
  }
  for (const auto& counts : chosen) {
    for (size_t call = 0; call < 16; ++call) {
      // 250 each, standard deviation 15.
      EXPECT_NEAR(counts[call], kRounds / 16, 75) << call;
    }
  }
}

TEST(CallSampleTest, BeginningAnewForgetsTheCallsBefore) {
  Rng rng(1);
  CallSample sample;
  EXPECT_TRUE(sample.Add(3, &rng).empty()) << "no places yet";
  sample.Begin(1);
  sample.Add(1'000'000, &rng);
  sample.Begin(1);
  EXPECT_EQ(sample.Add(1, &rng).size(), 1u);
  sample.Begin(0);
  EXPECT_TRUE(sample.Add(3, &rng).empty());
}

}  // namespace
}  // namespace ksearch

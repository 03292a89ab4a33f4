#include "gpu_worker/cuda/stamp_seal.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace ksearch {
namespace {

constexpr uint64_t kTime = 1'790'000'000'123'456'800;
constexpr uint64_t kHour = 3'600'000'000'000;

uint64_t Sealed(const StampSeal& seal, uint64_t time) { return time * seal.factor + seal.offset; }

TEST(StampSealTest, OpensWhatASeparatorWrote) {
  for (const StampSeal& seal : DrawStampSeals(1000)) {
    for (const uint64_t time : {uint64_t{0}, kTime, ~uint64_t{0}}) {
      EXPECT_EQ(seal.Open(Sealed(seal, time)), time);
    }
  }
}

TEST(StampSealTest, WhatIsAddedToATimeOpensAsSomethingElse) {
  // How far the opened number is from the time, when a program writes a time 10 us later: by
  // adding the difference, or with the seal of another stamp.
  std::vector<uint64_t> off;
  const std::vector<StampSeal> seals = DrawStampSeals(1000);
  for (size_t i = 1; i < seals.size(); ++i) {
    off.push_back(seals[i].Open(Sealed(seals[i], kTime) + 10'000) - kTime);
    off.push_back(seals[i].Open(Sealed(seals[i - 1], kTime + 10'000)) - kTime);
    off.push_back(seals[i].Open(kTime + 10'000) - kTime);
  }
  // One of 5 million is below it by chance.
  EXPECT_LE(std::count_if(off.begin(), off.end(), [](uint64_t ns) { return ns < kHour; }), 1);
}

TEST(StampSealTest, NoTwoAreEqual) {
  std::set<uint64_t> factors, offsets;
  for (const StampSeal& seal : DrawStampSeals(1000)) {
    EXPECT_EQ(seal.factor % 2, 1);
    factors.insert(seal.factor);
    offsets.insert(seal.offset);
  }
  EXPECT_EQ(factors.size(), 1000);
  EXPECT_EQ(offsets.size(), 1000);
}

}  // namespace
}  // namespace ksearch

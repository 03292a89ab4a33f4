#include "gpu_worker/verifier/timing/device/deferred_work.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

DeferredWork Late(double micros) {
  DeferredWork late;
  for (int i = 0; i < 7; ++i) {
    late.Add(absl::Microseconds(100 + micros), absl::Microseconds(100));
  }
  return late;
}

TEST(LateWorkTest, WhatIsLetGoIsSmallBesideTheBatch) {
  EXPECT_EQ(Late(29).MicrosPerBatch(20'000), 0);
  EXPECT_NEAR(Late(31).MicrosPerBatch(20'000), 31, 1e-9);
  EXPECT_EQ(Late(24).MicrosPerBatch(5'000), 0);
  EXPECT_NEAR(Late(26).MicrosPerBatch(5'000), 26, 1e-9);
  // Within what chance produces for honest programs.
  EXPECT_EQ(Late(11).MicrosPerBatch(500), 0);
  EXPECT_NEAR(Late(13).MicrosPerBatch(500), 13, 1e-9);
  EXPECT_EQ(Late(-50).MicrosPerBatch(500), 0);
}

TEST(LateWorkTest, OneLateBatchOfManyIsChance) {
  DeferredWork late = Late(0);
  late.Add(absl::Milliseconds(5), absl::Microseconds(100));
  EXPECT_EQ(late.MicrosPerBatch(5'000), 0);
}

}  // namespace
}  // namespace ksearch

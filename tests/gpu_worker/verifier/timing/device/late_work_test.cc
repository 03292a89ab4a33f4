#include "gpu_worker/verifier/timing/device/late_work.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

LateWork Late(double micros) {
  LateWork late;
  for (int go = 0; go < 7; ++go) {
    late.Add(absl::Microseconds(100 + micros), absl::Microseconds(100));
  }
  return late;
}

TEST(LateWorkTest, WhatIsLetGoIsSmallBesideTheGo) {
  EXPECT_EQ(Late(29).MicrosAGo(20'000), 0);
  EXPECT_NEAR(Late(31).MicrosAGo(20'000), 31, 1e-9);
  EXPECT_EQ(Late(24).MicrosAGo(5'000), 0);
  EXPECT_NEAR(Late(26).MicrosAGo(5'000), 26, 1e-9);
  // As much as chance makes of honest programs, in any case.
  EXPECT_EQ(Late(11).MicrosAGo(500), 0);
  EXPECT_NEAR(Late(13).MicrosAGo(500), 13, 1e-9);
  EXPECT_EQ(Late(-50).MicrosAGo(500), 0);
}

TEST(LateWorkTest, OneLateGoOfManyIsChance) {
  LateWork late = Late(0);
  late.Add(absl::Milliseconds(5), absl::Microseconds(100));
  EXPECT_EQ(late.MicrosAGo(5'000), 0);
}

}  // namespace
}  // namespace ksearch

// Needs a GPU; skips without a driver. Prints and checks the peaks that the verifier measures when
// it starts on a device. Takes about a second.
#include <gtest/gtest.h>

#include <cstdio>

#include "absl/time/clock.h"
#include "gpu_worker/verifier/cuda/device_timing.h"
#include "gpu_worker/verifier/cuda/peak/measured_peak.h"

namespace ksearch {
namespace {

class PeaksTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto api = DriverApi::Load(); !api.ok()) GTEST_SKIP() << api.status();
    auto opened = VerifierDevice::Open("");
    ASSERT_TRUE(opened.ok()) << opened.status();
    device_ = *std::move(opened);
  }
  std::shared_ptr<VerifierDevice> device_;
};

TEST_F(PeaksTest, MatrixInstructionsReachWhatTheMakerSays) {
  const absl::Time start = absl::Now();
  const auto peak = MeasurePeak(device_.get());
  const absl::Duration took = absl::Now() - start;
  ASSERT_TRUE(peak.ok()) << peak.status();
  std::printf(
      "%s (%s): bf16 %.0f operations a clock of a multiprocessor, %.1f TFLOP/s; "
      "e4m3 %.0f, %.1f TFLOP/s; %.0f ms\n",
      device_->device().name().c_str(), device_->device().architecture().c_str(),
      peak->halves.operations_per_clock, peak->halves.operations_per_second / 1e12,
      peak->bytes.operations_per_clock, peak->bytes.operations_per_second / 1e12,
      absl::ToDoubleMilliseconds(took));
  EXPECT_LT(took, absl::Milliseconds(300));
  EXPECT_GT(peak->halves.operations_per_clock, 0);
  EXPECT_GT(peak->bytes.operations_per_clock, peak->halves.operations_per_clock);
  if (device_->device().architecture() == "sm_90") {
    EXPECT_GT(peak->halves.operations_per_clock, 0.9 * 4096);
    EXPECT_LT(peak->halves.operations_per_clock, 1.01 * 4096);
    EXPECT_GT(peak->bytes.operations_per_clock, 0.9 * 8192);
    EXPECT_LT(peak->bytes.operations_per_clock, 1.01 * 8192);
  }
}

TEST_F(PeaksTest, TheFloorRestsOnMoreThanWasReached) {
  const auto measured = MeasurePeak(device_.get());
  ASSERT_TRUE(measured.ok()) << measured.status();
  const auto timing = MakeGpuTiming(device_);
  ASSERT_TRUE(timing.ok()) << timing.status();
  std::printf("floor: %.2f TB/s, bf16 %.1f TFLOP/s, 8 bits %.1f TFLOP/s\n",
              timing->peaks.bytes_per_second / 1e12, timing->peaks.half_flops_per_second / 1e12,
              timing->peaks.byte_flops_per_second / 1e12);
  if (timing->peaks.half_flops_per_second == 0) GTEST_SKIP() << "no NVML, or nothing is known";
  EXPECT_GE(timing->peaks.half_flops_per_second, 0.99 * measured->halves.operations_per_second);
  EXPECT_GE(timing->peaks.byte_flops_per_second, 0.99 * measured->bytes.operations_per_second);
}

}  // namespace
}  // namespace ksearch

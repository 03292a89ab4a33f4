#include "gpu_worker/verifier/timing/device/roofline.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

v1::Task Gemm(v1::DType dtype) {
  v1::Task task;
  for (const char* name : {"m", "n", "k"}) task.mutable_definition()->add_axes()->set_name(name);
  task.mutable_definition()->mutable_axes(2)->set_const_value(1000);
  task.mutable_definition()->add_inputs()->set_dtype(dtype);
  task.mutable_work()->set_bytes("2 * (m * k + k * n + m * n)");
  task.mutable_work()->set_flops("2 * m * n * k");
  return task;
}

v1::Workload Square(int64_t extent) {
  v1::Workload workload;
  for (const char* name : {"m", "n"}) {
    v1::AxisValue* axis = workload.add_axes();
    axis->set_axis(name);
    axis->set_value(extent);
  }
  return workload;
}

TEST(FloorMicrosTest, TheSlowerOfMovingAndComputing) {
  DevicePeaks peaks;
  peaks.bytes_per_second = 1e12;
  peaks.half_flops_per_second = 1e15;
  peaks.byte_flops_per_second = 2e15;
  EXPECT_NEAR(FloorMicros(Gemm(v1::DTYPE_BFLOAT16), Square(1000), peaks), 6, 1e-9);
  EXPECT_NEAR(FloorMicros(Gemm(v1::DTYPE_BFLOAT16), Square(10000), peaks), 240, 1e-9);
  peaks.bytes_per_second = 1e15;
  EXPECT_NEAR(FloorMicros(Gemm(v1::DTYPE_BFLOAT16), Square(10000), peaks), 200, 1e-9);
  EXPECT_NEAR(FloorMicros(Gemm(v1::DTYPE_FLOAT8_E4M3FN), Square(10000), peaks), 100, 1e-9);
  peaks.least_call_us = 2.25;
  EXPECT_NEAR(FloorMicros(Gemm(v1::DTYPE_FLOAT8_E4M3FN), Square(10000), peaks), 102.25, 1e-9);
}

TEST(FloorMicrosTest, ACpuHasCachesAndIsSlowerOnWideNumbers) {
  HostPeaks host;
  host.cache_bytes_per_second = 1e12;
  host.memory_bytes_per_second = 1e10;
  host.last_level_cache_bytes = 4'000'000;
  host.single_flops_per_second = 1e12;
  // 6 MB, 2e9 operations.
  EXPECT_NEAR(FloorMicros(Gemm(v1::DTYPE_FLOAT32), Square(1000), PeaksOf(host)), 2000, 1e-9);
  EXPECT_NEAR(FloorMicros(Gemm(v1::DTYPE_BFLOAT16), Square(1000), PeaksOf(host)), 1000, 1e-9);
  host.has_tiles = true;
  EXPECT_NEAR(FloorMicros(Gemm(v1::DTYPE_FLOAT32), Square(1000), PeaksOf(host)), 200, 1e-9);
  host.last_level_cache_bytes = 100'000'000;
  EXPECT_NEAR(FloorMicros(Gemm(v1::DTYPE_FLOAT32), Square(1000), PeaksOf(host)), 62.5, 1e-9);
  host.single_flops_per_second = 0;
  EXPECT_NEAR(FloorMicros(Gemm(v1::DTYPE_FLOAT32), Square(1000), PeaksOf(host)), 6, 1e-9);
  EXPECT_EQ(FloorMicros(Gemm(v1::DTYPE_FLOAT32), Square(1000), PeaksOf(HostPeaks())), 0);
}

TEST(PeakPerClockTest, MeasuringOnlyRaisesTheBound) {
  EXPECT_EQ(PeakPerClock(3900, 4096), 4096);
  EXPECT_EQ(PeakPerClock(4200, 4096), 4200);
  EXPECT_EQ(PeakPerClock(0, 4096), 4096);
  EXPECT_EQ(PeakPerClock(800, 0), 1000);
  EXPECT_EQ(PeakPerClock(0, 0), 0);
}

TEST(FloorMicrosTest, WhatIsNotKnownGivesNoFloor) {
  DevicePeaks peaks;
  EXPECT_EQ(FloorMicros(Gemm(v1::DTYPE_FLOAT32), Square(10), peaks), 0);
  peaks.bytes_per_second = 1e12;
  v1::Task task = Gemm(v1::DTYPE_FLOAT32);
  task.clear_work();
  EXPECT_EQ(FloorMicros(task, Square(10), peaks), 0);
  task.mutable_work()->set_bytes("m * missing");
  EXPECT_EQ(FloorMicros(task, Square(10), peaks), 0);
}

}  // namespace
}  // namespace ksearch

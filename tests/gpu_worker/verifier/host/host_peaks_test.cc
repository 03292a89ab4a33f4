#include "gpu_worker/verifier/host/host_peaks.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

TEST(HostPeaksTest, EverySpeedIsMeasured) {
  constexpr int64_t kCacheBytes = int64_t{4} << 20;
  const HostPeaks peaks = MeasureHostPeaks(kCacheBytes);
  // No machine that runs this test is slower.
  EXPECT_GT(peaks.cache_bytes_per_second, 1e8);
  EXPECT_GT(peaks.memory_bytes_per_second, 1e7);
  EXPECT_GT(peaks.single_flops_per_second, 1e8);
  EXPECT_EQ(peaks.last_level_cache_bytes, kCacheBytes);
}

TEST(HostPeaksTest, TheMemoryBehindAHugeCacheIsMeasuredWhereCachesCanBeEmptied) {
  const HostPeaks peaks = MeasureHostPeaks(int64_t{1} << 40);
#if defined(__x86_64__)
  EXPECT_GT(peaks.memory_bytes_per_second, 1e7);
  // The data came from memory, not from a cache.
  EXPECT_LT(peaks.memory_bytes_per_second, peaks.cache_bytes_per_second);
#else
  EXPECT_EQ(peaks.memory_bytes_per_second, 0);
#endif
}

TEST(HostPeaksTest, TheBetterOfTwoMeasurementsCounts) {
  HostPeaks peaks;
  peaks.cache_bytes_per_second = 100;
  peaks.single_flops_per_second = 1000;
  HostPeaks other = peaks;
  EXPECT_EQ(Raise(other, &peaks), 1);
  other.cache_bytes_per_second = 150;
  other.single_flops_per_second = 900;
  EXPECT_EQ(Raise(other, &peaks), 1.5);
  EXPECT_EQ(peaks.cache_bytes_per_second, 150);
  EXPECT_EQ(peaks.single_flops_per_second, 1000);
  EXPECT_EQ(peaks.memory_bytes_per_second, 0);
}

}  // namespace
}  // namespace ksearch

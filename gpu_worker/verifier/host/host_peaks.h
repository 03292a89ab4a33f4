#ifndef KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_PEAKS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_PEAKS_H_

#include <cstdint>

namespace ksearch {

// Measured peak rates of all processors that this process may use, together. On a busy machine the
// measured rates are too low, so a caller that is about to call a result impossible measures again
// and uses the higher of both (Raise).
struct HostPeaks {
  double cache_bytes_per_second = 0;  // reads of what lies in each core's first cache
  // Reads of data that is in no cache. 0: unknown, because the caches are larger than what can be
  // read in a short time, and this processor has no way to flush them.
  double memory_bytes_per_second = 0;
  int64_t last_level_cache_bytes = 0;  // of all of them together
  double single_flops_per_second = 0;  // multiply-adds of float32 vectors, two operations each
  bool has_tiles = false;              // matrix instructions (AMX), which are not measured
};

// `last_level_cache_bytes`: see AllLastLevelCacheBytes. Uses every such processor for about 150 ms.
HostPeaks MeasureHostPeaks(int64_t last_level_cache_bytes);

// Raises each rate of *peaks to that of `other` if that is higher. Returns the largest factor by
// which a rate rose, at least 1.
double Raise(const HostPeaks& other, HostPeaks* peaks);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_PEAKS_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_PEAKS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_PEAKS_H_

#include <cstdint>

namespace ksearch {

// What the processors that this process may use do together, as measured. A busy machine measures
// less than it can do: a caller about to call a result impossible measures again and uses the
// better of the two (Raise).
struct HostPeaks {
  double cache_bytes_per_second = 0;  // reads of what lies in each core's first cache
  // Reads of what lies in no cache; 0: not known, since the caches are larger than what can be read
  // in a short time, and this processor cannot be told to empty them.
  double memory_bytes_per_second = 0;
  int64_t last_level_cache_bytes = 0;  // of all of them together
  double single_flops_per_second = 0;  // multiply-adds of float32 vectors, two operations each
  bool has_tiles = false;              // matrix instructions (AMX), which are not measured
};

// `last_level_cache_bytes`: see AllLastLevelCacheBytes. Takes about 150 ms of every such processor.
HostPeaks MeasureHostPeaks(int64_t last_level_cache_bytes);

// Each speed of *peaks becomes that of `other` if that is higher. Returns by how many times at most
// one of them rose, at least 1.
double Raise(const HostPeaks& other, HostPeaks* peaks);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_HOST_HOST_PEAKS_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_CLOCK_READER_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_CLOCK_READER_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace ksearch {

// A reading of a GPU's clocks. `reasons`: NVML's clocks event reasons, as bits.
struct ClockReading {
  double sm_mhz = 0;
  uint64_t reasons = 0;
};

// Reads one GPU's clocks; a reading takes about a millisecond and does not touch the device's
// queues. Thread-compatible.
class ClockReader {
 public:
  virtual ~ClockReader() = default;
  virtual absl::StatusOr<ClockReading> Read() = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_CLOCK_READER_H_

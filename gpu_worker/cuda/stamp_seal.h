#ifndef KSEARCH_GPU_WORKER_CUDA_STAMP_SEAL_H_
#define KSEARCH_GPU_WORKER_CUDA_STAMP_SEAL_H_

#include <cstdint>
#include <vector>

namespace ksearch {

// How a separator writes the time: as time * factor + offset, modulo 2^64. The factor is odd, so
// the time can be recovered. Both numbers are random, secret and used for one stamp: whoever knows
// a time and how it was written cannot write another one, which would take the factor (a one-time
// pad with pairwise independence, Wegman and Carter 1981). What else is written opens as a random
// number.
struct StampSeal {
  uint64_t factor = 1;
  uint64_t offset = 0;

  // The recovered time.
  uint64_t Open(uint64_t sealed) const;
};

// New seals, from the kernel's random numbers.
std::vector<StampSeal> DrawStampSeals(int count);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_CUDA_STAMP_SEAL_H_

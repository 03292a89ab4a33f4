#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_ISLANDS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_ISLANDS_H_

#include <cstdint>

// Integers from a range, and islands: runs of elements that differ from the rest
// (v1::RandomRecipe). Shared by device and host code; plain C++17 without the project's other
// headers, since nvcc compiles it too.
#ifdef __CUDACC__
#define KSEARCH_ISLAND __host__ __device__ __forceinline__
#else
#define KSEARCH_ISLAND inline
#endif

namespace ksearch {
namespace device {

// Maps a uniform to one of the `span` integers that start at `least`; span is at least 1.
KSEARCH_ISLAND int64_t IntegerIn(uint32_t random, int64_t least, uint64_t span) {
  const uint64_t high = span >> 32, low = span & 0xFFFFFFFFu;
  // For spans beyond 2^32: 32 more bits, derived from the first 32 and so no more random than them.
  const uint64_t more = static_cast<uint32_t>(random * 0x9E3779B1u);
  const uint64_t above = random * high + ((more * high) >> 32) + ((random * low) >> 32);
  return static_cast<int64_t>(static_cast<uint64_t>(least) + above);
}

inline constexpr int kMostIslands = 4;

struct Islands {
  int32_t count;   // 0: none
  float factor;    // 0: values run from `first` to `last`
  int64_t run;     // at least 1
  int64_t places;  // an island begins at a multiple of `run` below places * run
  double first;
  double last;
  uint64_t key;  // of a Philox: block (which island, variant) says where it lies
};

// From the first two words of its block: the island's first element.
KSEARCH_ISLAND int64_t IslandBegin(const Islands& islands, uint32_t one, uint32_t other) {
  const uint64_t random = (static_cast<uint64_t>(one) << 32) | other;
  return static_cast<int64_t>(random % static_cast<uint64_t>(islands.places)) * islands.run;
}

// Where the factor is 0: element `index` of an island.
KSEARCH_ISLAND double IslandValue(const Islands& islands, int64_t index) {
  if (islands.run < 2) return islands.first;
  return islands.first + (islands.last - islands.first) *
                             (static_cast<double>(index) / static_cast<double>(islands.run - 1));
}

}  // namespace device
}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_ISLANDS_H_

#include "gpu_worker/cuda/stamp_seal.h"

#include <sys/random.h>

#include <cstddef>

namespace ksearch {
namespace {

// Newton's iteration doubles the number of right low bits each time. An odd number is its own
// inverse modulo 8.
uint64_t InverseOf(uint64_t odd) {
  uint64_t inverse = odd;
  for (int bits = 3; bits < 64; bits *= 2) inverse *= 2 - odd * inverse;
  return inverse;
}

}  // namespace

uint64_t StampSeal::Open(uint64_t sealed) const { return (sealed - offset) * InverseOf(factor); }

std::vector<StampSeal> DrawStampSeals(int count) {
  std::vector<StampSeal> seals(static_cast<size_t>(count));
  auto* const bytes = reinterpret_cast<char*>(seals.data());
  const size_t wanted = seals.size() * sizeof seals[0];
  size_t drawn = 0;
  while (drawn < wanted) {
    const ssize_t more = ::getrandom(bytes + drawn, wanted - drawn, 0);
    if (more > 0) drawn += static_cast<size_t>(more);
  }
  for (StampSeal& seal : seals) seal.factor |= 1;
  return seals;
}

}  // namespace ksearch

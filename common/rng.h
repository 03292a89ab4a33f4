#ifndef KSEARCH_COMMON_RNG_H_
#define KSEARCH_COMMON_RNG_H_

#include <array>
#include <cstdint>

namespace ksearch {

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a
// counter-based generator. Block(counter) is a pure function of key and counter, so values can be
// made in any order, by any number of threads, and made again.
class Philox {
 public:
  explicit Philox(uint64_t key) : key_(key) {}

  std::array<uint32_t, 4> Block(uint64_t counter_low, uint64_t counter_high = 0) const {
    uint32_t c0 = static_cast<uint32_t>(counter_low), c1 = static_cast<uint32_t>(counter_low >> 32);
    uint32_t c2 = static_cast<uint32_t>(counter_high),
             c3 = static_cast<uint32_t>(counter_high >> 32);
    uint32_t k0 = static_cast<uint32_t>(key_), k1 = static_cast<uint32_t>(key_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53} * c0;
      const uint64_t p1 = uint64_t{0xCD9E8D57} * c2;
      const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
      const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c1 = static_cast<uint32_t>(p1);
      c3 = static_cast<uint32_t>(p0);
      c0 = n0;
      c2 = n2;
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    return {c0, c1, c2, c3};
  }

  uint64_t key() const { return key_; }

 private:
  uint64_t key_;
};

// A sequence drawn from Philox; its whole state is (key, position), so it can be stored and
// resumed. Thread-compatible.
class Rng {
 public:
  explicit Rng(uint64_t seed, uint64_t position = 0) : philox_(seed), position_(position) {}

  uint64_t Next() {
    const auto block = philox_.Block(position_++);
    return (uint64_t{block[1]} << 32) | block[0];
  }
  // Uniform in [0, 1), 53 bits.
  double NextDouble() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  // Uniform in [0, bound); bound > 0. Bias below 2^-32 for bound < 2^32 (multiply-shift).
  uint64_t NextBelow(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }

  uint64_t seed() const { return philox_.key(); }
  uint64_t position() const { return position_; }

 private:
  Philox philox_;
  uint64_t position_;
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_RNG_H_

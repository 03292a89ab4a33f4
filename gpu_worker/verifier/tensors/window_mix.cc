#include "gpu_worker/verifier/tensors/window_mix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "common/rng.h"

namespace ksearch {
namespace {

constexpr size_t kRandomBytes = 64;
using RandomBits = std::array<std::byte, kRandomBytes>;

// Draws as many words as fit into the random bytes: takes a bit from each, then shifts them.
template <typename Word>
constexpr int64_t kLanes = static_cast<int64_t>(kRandomBytes / sizeof(Word));

template <typename Word>
struct Lanes {
  std::array<Word, static_cast<size_t>(kLanes<Word>)> words;
  void Load(const std::byte* memory, int64_t count) {
    std::memcpy(words.data(), memory, static_cast<size_t>(count) * sizeof(Word));
  }
};

// Calls mix(x, y, random) for `count` elements, kLanes of them at a time; x takes the result.
template <typename Word, typename Mix>
void MixBlock(const std::byte* x, const std::byte* y, int64_t count, const RandomBits& bits,
              std::byte* out, Mix mix) {
  Lanes<Word> a, b, random;
  random.Load(bits.data(), kLanes<Word>);
  int64_t done = 0;
  for (; done + kLanes<Word> <= count; done += kLanes<Word>) {
    const int64_t at = done * static_cast<int64_t>(sizeof(Word));
    a.Load(x + at, kLanes<Word>);
    b.Load(y + at, kLanes<Word>);
    mix(&a, b, &random);
    std::memcpy(out + at, a.words.data(), kRandomBytes);
  }
  if (done == count) return;
  const int64_t at = done * static_cast<int64_t>(sizeof(Word));
  a.words.fill(0);
  b.words.fill(0);
  a.Load(x + at, count - done);
  b.Load(y + at, count - done);
  mix(&a, b, &random);
  std::memcpy(out + at, a.words.data(), static_cast<size_t>(count - done) * sizeof(Word));
}

// Element i is that of x at i times x_step, or that of y at i times y_step, both modulo kBlock.
template <typename Word>
void SelectBlock(const std::byte* x, const std::byte* y, uint32_t x_step, uint32_t y_step,
                 int64_t count, const RandomBits& bits, std::byte* out) {
  if (x_step == 1 && y_step == 1) {
    return MixBlock<Word>(x, y, count, bits, out,
                          [](Lanes<Word>* a, const Lanes<Word>& b, Lanes<Word>* random) {
                            constexpr int kTop = 8 * sizeof(Word) - 1;
                            for (size_t i = 0; i < a->words.size(); ++i) {
                              const Word mask = static_cast<Word>(0 - (random->words[i] >> kTop));
                              a->words[i] ^= static_cast<Word>((a->words[i] ^ b.words[i]) & mask);
                              random->words[i] = static_cast<Word>(random->words[i] << 1);
                            }
                          });
  }
  constexpr uint32_t kMask = 8 * kRandomBytes - 1;
  for (uint32_t i = 0; i < static_cast<uint32_t>(count); ++i) {
    Word a, b;
    std::memcpy(&a, x + sizeof(Word) * (i * x_step & kMask), sizeof a);
    std::memcpy(&b, y + sizeof(Word) * (i * y_step & kMask), sizeof b);
    // No branch, which would be mispredicted half of the time.
    const auto second = static_cast<Word>(static_cast<uint32_t>(bits[i / 8]) >> (i % 8) & 1);
    a ^= static_cast<Word>((a ^ b) & static_cast<Word>(0 - second));
    std::memcpy(out + sizeof(Word) * i, &a, sizeof a);
  }
}

void WeighBlock(const std::byte* x, const std::byte* y, int64_t count, const RandomBits& bits,
                float x_weight, float y_weight, float offset, std::byte* out) {
  MixBlock<uint32_t>(x, y, count, bits, out,
                     [=](Lanes<uint32_t>* a, const Lanes<uint32_t>& b, Lanes<uint32_t>* random) {
                       for (size_t i = 0; i < a->words.size(); ++i) {
                         const uint32_t sign = random->words[i] & 0x80000000u;
                         const float weighed = y_weight * std::bit_cast<float>(b.words[i] ^ sign);
                         a->words[i] = std::bit_cast<uint32_t>(
                             x_weight * std::bit_cast<float>(a->words[i]) + weighed + offset);
                         random->words[i] <<= 1;
                       }
                     });
}

void AddBlock(const std::byte* x, const std::byte* y, int64_t count, const RandomBits& bits,
              uint32_t* out) {
  MixBlock<uint32_t>(x, y, count, bits, reinterpret_cast<std::byte*>(out),
                     [](Lanes<uint32_t>* a, const Lanes<uint32_t>& b, Lanes<uint32_t>* random) {
                       for (size_t i = 0; i < a->words.size(); ++i) {
                         const uint32_t minus = 0 - (random->words[i] >> 31);
                         a->words[i] += (b.words[i] ^ minus) - minus;
                         random->words[i] <<= 1;
                       }
                     });
}

}  // namespace

WindowMix::WindowMix(std::vector<std::byte> pool, const Options& options)
    : pool_(std::move(pool)), options_(options) {}

int64_t WindowMix::PoolElementBytes() const {
  return options_.rule == Rule::kAdd ? static_cast<int64_t>(sizeof(uint32_t))
                                     : options_.element_bytes;
}

WindowMix::Plan WindowMix::PlanOf(int64_t variant) const {
  Rng rng(options_.key, static_cast<uint64_t>(variant) << 3);
  const int64_t row_bytes = options_.row * PoolElementBytes();
  const int64_t spare = static_cast<int64_t>(pool_.size()) - options_.elements * PoolElementBytes();
  // A shuffled block is read as a whole, the last one of a window, too.
  const int64_t beyond = kBlock * PoolElementBytes();
  const bool shuffles = options_.rule == Rule::kSelect && options_.row == 1 && spare >= beyond;
  const auto offsets = static_cast<uint64_t>(
      (shuffles ? spare - beyond : spare) / std::max<int64_t>(row_bytes, 1) + 1);
  const uint64_t first = rng.NextBelow(offsets);
  // A different offset, if there is more than one.
  const uint64_t second = offsets < 2 ? first : (first + 1 + rng.NextBelow(offsets - 1)) % offsets;
  Plan plan;
  plan.first = pool_.data() + static_cast<int64_t>(first) * row_bytes;
  plan.second = pool_.data() + static_cast<int64_t>(second) * row_bytes;
  plan.bits_key = rng.Next();
  if (shuffles) {
    plan.first_step = static_cast<uint32_t>(rng.NextBelow(kBlock) | 1);
    plan.second_step = static_cast<uint32_t>(rng.NextBelow(kBlock) | 1);
  }
  // Keeps both windows' shares large enough.
  const double share = 0.25 + 0.5 * rng.NextDouble();
  if (options_.rule == Rule::kRoot) {
    const double angle = share * std::numbers::pi / 2;
    plan.first_weight = static_cast<float>(std::cos(angle));
    plan.second_weight = static_cast<float>(std::sin(angle));
  } else {
    plan.first_weight = static_cast<float>(share);
    plan.second_weight = static_cast<float>(1 - share);
  }
  return plan;
}

void WindowMix::WriteBlock(const Plan& plan, int64_t block, int64_t count, std::byte* out) const {
  RandomBits bits;
  const Philox philox(plan.bits_key);
  for (size_t i = 0; i < kRandomBytes / 16; ++i) {
    const auto words = philox.Block(static_cast<uint64_t>(block) * (kRandomBytes / 16) + i);
    std::memcpy(bits.data() + 16 * i, words.data(), 16);
  }
  const int64_t at = block * kBlock * PoolElementBytes();
  const std::byte* const x = plan.first + at;
  const std::byte* const y = plan.second + at;
  if (options_.rule == Rule::kSelect) {
    switch (options_.element_bytes) {
      case 1:
        return SelectBlock<uint8_t>(x, y, plan.first_step, plan.second_step, count, bits, out);
      case 2:
        return SelectBlock<uint16_t>(x, y, plan.first_step, plan.second_step, count, bits, out);
      case 4:
        return SelectBlock<uint32_t>(x, y, plan.first_step, plan.second_step, count, bits, out);
      default:
        return SelectBlock<uint64_t>(x, y, plan.first_step, plan.second_step, count, bits, out);
    }
  }
  if (options_.rule == Rule::kAdd) {
    std::array<uint32_t, kBlock> words;
    AddBlock(x, y, count, bits, words.data());
    options_.make_elements(words.data(), count, out);
  } else {
    WeighBlock(x, y, count, bits, plan.first_weight, plan.second_weight, options_.offset, out);
  }
  if (options_.raise_count == 0) return;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t column = (block * kBlock + i) % options_.row - options_.raise_first;
    if (column < 0 || column >= options_.raise_count) continue;
    float value;
    std::memcpy(&value, out + i * 4, 4);
    value += options_.raise;
    std::memcpy(out + i * 4, &value, 4);
  }
}

void WindowMix::Write(int64_t variant, std::byte* out) const {
  const Plan plan = PlanOf(variant);
  for (int64_t block = 0; block * kBlock < options_.elements; ++block) {
    const int64_t begin = block * kBlock;
    WriteBlock(plan, block, std::min(kBlock, options_.elements - begin),
               out + begin * options_.element_bytes);
  }
}

bool WindowMix::Matches(int64_t variant, const std::byte* memory) const {
  const Plan plan = PlanOf(variant);
  std::array<std::byte, kBlock * 8> expected;
  for (int64_t block = 0; block * kBlock < options_.elements; ++block) {
    const int64_t begin = block * kBlock;
    const int64_t count = std::min(kBlock, options_.elements - begin);
    WriteBlock(plan, block, count, expected.data());
    if (std::memcmp(memory + begin * options_.element_bytes, expected.data(),
                    static_cast<size_t>(count * options_.element_bytes)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace ksearch

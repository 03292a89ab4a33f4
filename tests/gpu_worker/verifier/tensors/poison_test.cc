#include "gpu_worker/verifier/tensors/poison.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "common/rng.h"

namespace ksearch {
namespace {

constexpr int64_t kLengths[] = {0,  1,   2,    3,    4,    7,    8,     9,
                                16, 100, 4095, 4096, 4098, 4104, 12345, 40000};

TEST(PoisonTest, FillsToTheLastByteAndNoFurther) {
  const uint64_t word = PoisonWord(v1::DTYPE_INT64, 7);
  for (const int64_t length : kLengths) {
    std::vector<std::byte> memory(static_cast<size_t>(length) + 16, std::byte{0x11});
    FillPoison(word, memory.data() + 8, length);
    for (int64_t i = 0; i < length; ++i) {
      ASSERT_EQ(
          std::memcmp(memory.data() + 8 + i, reinterpret_cast<const std::byte*>(&word) + i % 8, 1),
          0)
          << length << " " << i;
    }
    for (size_t i = 0; i < 8; ++i) {
      ASSERT_EQ(memory[i], std::byte{0x11});
      ASSERT_EQ(memory[static_cast<size_t>(length) + 8 + i], std::byte{0x11}) << length;
    }
    EXPECT_TRUE(IsAllPoison(word, memory.data() + 8, length));
  }
}

struct FloatType {
  v1::DType dtype;
  int64_t bytes;
};

TEST(PoisonTest, OneElementOfAFloatingTypeIsFoundWhereverItLies) {
  for (const auto& [dtype, size] : {FloatType{v1::DTYPE_FLOAT32, 4},
                                    {v1::DTYPE_FLOAT16, 2},
                                    {v1::DTYPE_BFLOAT16, 2},
                                    {v1::DTYPE_FLOAT8_E4M3FN, 1},
                                    {v1::DTYPE_BOOL, 1}}) {
    const uint64_t word = PoisonWord(dtype, 3);
    for (const int64_t elements : {1, 2, 3, 4, 5, 7, 1000, 4099, 20003}) {
      const int64_t bytes = elements * size;
      std::vector<std::byte> memory(static_cast<size_t>(bytes), std::byte{1});
      EXPECT_FALSE(ShowsPoison(dtype, word, memory.data(), bytes)) << elements;
      for (const int64_t at : {int64_t{0}, elements / 3, elements / 2, elements - 1}) {
        std::vector<std::byte> poisoned = memory;
        std::memcpy(poisoned.data() + at * size, &word, static_cast<size_t>(size));
        EXPECT_TRUE(ShowsPoison(dtype, word, poisoned.data(), bytes))
            << v1::DType_Name(dtype) << " " << elements << " " << at;
      }
    }
  }
}

// Two neighbors that together contain the pattern's bytes are not a poisoned element.
TEST(PoisonTest, APatternAcrossTwoElementsIsNone) {
  const uint64_t word = PoisonWord(v1::DTYPE_FLOAT32, 3);
  std::vector<std::byte> memory(4096, std::byte{1});
  std::memcpy(memory.data() + 1026, &word, 4);
  EXPECT_FALSE(ShowsPoison(v1::DTYPE_FLOAT32, word, memory.data(), 4096));
  const uint64_t half = PoisonWord(v1::DTYPE_FLOAT16, 3);
  std::vector<std::byte> halves(4096, std::byte{1});
  std::memcpy(halves.data() + 1027, &half, 2);
  EXPECT_FALSE(ShowsPoison(v1::DTYPE_FLOAT16, half, halves.data(), 4096));
}

// The search for halves works on eight bytes at a time; it must agree with a search one by one.
TEST(PoisonTest, HalvesThatResembleThePatternAreNoPoison) {
  const uint64_t word = PoisonWord(v1::DTYPE_BFLOAT16, 11);
  Rng rng(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint16_t> halves(37);
    bool expected = false;
    for (uint16_t& half : halves) {
      // Mostly off by one in either direction, or in the highest bit.
      const uint16_t changes[] = {1, 0xFFFF, 0x8000, 0x0100, 2};
      half = static_cast<uint16_t>(static_cast<uint16_t>(word) + changes[rng.NextBelow(5)]);
      if (rng.NextBelow(60) == 0) half = static_cast<uint16_t>(word);
      expected |= half == static_cast<uint16_t>(word);
    }
    EXPECT_EQ(ShowsPoison(v1::DTYPE_BFLOAT16, word,
                          reinterpret_cast<const std::byte*>(halves.data()), 74),
              expected);
  }
}

TEST(PoisonTest, IntegersShowPoisonOnlyWhereAllOfItIsLeft) {
  const uint64_t word = PoisonWord(v1::DTYPE_INT32, 9);
  std::vector<std::byte> memory(4096);
  FillPoison(word, memory.data(), 4096);
  EXPECT_TRUE(ShowsPoison(v1::DTYPE_INT32, word, memory.data(), 4096));
  memory[2000] ^= std::byte{1};
  EXPECT_FALSE(ShowsPoison(v1::DTYPE_INT32, word, memory.data(), 4096));
  EXPECT_FALSE(IsAllPoison(word, memory.data(), 4096));
  EXPECT_FALSE(ShowsPoison(v1::DTYPE_INT32, word, memory.data() + 8, 4));
}

}  // namespace
}  // namespace ksearch

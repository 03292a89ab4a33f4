#include "common/rng.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch {
namespace {

using testing::ElementsAre;

// Known answers of philox4x32-10 as published with Random123 (kat_vectors).
TEST(PhiloxTest, GivesThePublishedKnownAnswers) {
  EXPECT_THAT(Philox(0).Block(0, 0),
              ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  EXPECT_THAT(Philox(~uint64_t{0}).Block(~uint64_t{0}, ~uint64_t{0}),
              ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  EXPECT_THAT(Philox(0x299f31d0a4093822u).Block(0x85a308d3243f6a88u, 0x0370734413198a2eu),
              ElementsAre(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

TEST(RngTest, GoesOnFromAStoredPosition) {
  Rng rng(7);
  for (int i = 0; i < 5; ++i) rng.Next();
  Rng resumed(rng.seed(), rng.position());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(rng.Next(), resumed.Next());
}

TEST(RngTest, BoundedValuesCoverTheirRangeEvenly) {
  Rng rng(3);
  int counts[5] = {};
  for (int i = 0; i < 50000; ++i) {
    const uint64_t value = rng.NextBelow(5);
    ASSERT_LT(value, 5u);
    ++counts[value];
  }
  // 10000 expected each, standard deviation 89: six of them.
  for (const int count : counts) EXPECT_NEAR(count, 10000, 540);
  for (int i = 0; i < 1000; ++i) {
    const double value = rng.NextDouble();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
  }
}

}  // namespace
}  // namespace ksearch

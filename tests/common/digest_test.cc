#include "common/digest.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

TEST(Sha256HexTest, GivesThePublishedAnswer) {
  // FIPS 180-2, appendix B.1.
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_TRUE(IsSha256Hex(Sha256Hex("")));
  EXPECT_FALSE(IsSha256Hex("BA78"));
  EXPECT_FALSE(IsSha256Hex(std::string(64, 'G')));
}

TEST(CanonicalBytesTest, DistinctFieldSequencesHaveDistinctNames) {
  const auto name = [](auto... fields) {
    CanonicalBytes bytes;
    (bytes.Add(fields), ...);
    return bytes.Sha256();
  };
  EXPECT_NE(name("ab", "c"), name("a", "bc"));
  EXPECT_NE(name("a"), name("a", ""));
  EXPECT_NE(name("12"), name(int64_t{12}));
  EXPECT_NE(name(int64_t{1}, int64_t{23}), name(int64_t{12}, int64_t{3}));
  EXPECT_EQ(name("x", int64_t{-1}), name("x", int64_t{-1}));
}

TEST(RandomHexTest, HasTheLengthAskedForAndDiffers) {
  EXPECT_EQ(RandomHex(6).size(), 12u);
  EXPECT_NE(RandomHex(16), RandomHex(16));
}

}  // namespace
}  // namespace ksearch

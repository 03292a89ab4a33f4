#include "coordinator/llm/embedding/embedding.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(EmbeddingTest, ATextHoldsItToTheLastBit) {
  const Embedding embedding = {0.1F, -2.5F, 1e-30F, 12345.678F};
  const std::string text = EncodeEmbedding(embedding);
  EXPECT_EQ(DecodeEmbedding(text).value(), embedding);
  // 32-bit little-endian floats, as in OpenAI's base64 form.
  EXPECT_EQ(EncodeEmbedding({1.0F, -2.0F}), "AACAPwAAAMA=");
}

TEST(EmbeddingTest, WhatIsNoEmbeddingIsRefused) {
  const float infinite = std::numeric_limits<float>::infinity();
  for (const std::string& text :
       {std::string(), std::string("hello, world"), std::string("AACAPwA="),
        EncodeEmbedding({0, 0}), EncodeEmbedding({1, infinite}), EncodeEmbedding({NAN}),
        EncodeEmbedding(Embedding(kMaxEmbeddingNumbers + 1, 1.0F))}) {
    EXPECT_EQ(DecodeEmbedding(text).status().code(), absl::StatusCode::kDataLoss) << text.size();
  }
  EXPECT_TRUE(DecodeEmbedding(EncodeEmbedding(Embedding(kMaxEmbeddingNumbers, 1.0F))).ok());
}

TEST(EmbeddingTest, CosineKnowsDirectionsAlone) {
  EXPECT_NEAR(CosineOf({1, 0}, {5, 0}), 1, 1e-12);
  EXPECT_NEAR(CosineOf({1, 0}, {0, 2}), 0, 1e-12);
  EXPECT_NEAR(CosineOf({1, 0}, {-3, 0}), -1, 1e-12);
  EXPECT_NEAR(CosineOf({1, 1}, {1, 0}), std::sqrt(0.5), 1e-12);
}

TEST(EmbeddingTest, LongTextsAreCutAtLinesAndNeverWithinACharacter) {
  EXPECT_THAT(PiecesToEmbed("short", 8), ElementsAre("short"));
  EXPECT_THAT(PiecesToEmbed("", 8), ElementsAre(""));
  EXPECT_THAT(PiecesToEmbed("line 1\nline 2\nx", 8), ElementsAre("line 1\n", "line 2\nx"));
  EXPECT_THAT(PiecesToEmbed("0123456789", 4), ElementsAre("0123", "4567", "89"));
  EXPECT_THAT(PiecesToEmbed("abc\u00e4\u00e4\u00e4", 4),
              ElementsAre("abc", "\u00e4\u00e4", "\u00e4"));
  // Works for bytes that are not text, too.
  const std::string noise(100, '\x80');
  EXPECT_EQ(absl::StrJoin(PiecesToEmbed(noise, 8), ""), noise);
}

TEST(EmbeddingTest, PiecesCountByTheirLength) {
  const Embedding joined = JoinEmbeddings({"abc", "d"}, {{2, 0}, {0, 7}}).value();
  EXPECT_NEAR(joined[0] / joined[1], 3, 1e-6) << "directions, not lengths";
  EXPECT_NEAR(std::hypot(joined[0], joined[1]), 1, 1e-6);
  EXPECT_THAT(JoinEmbeddings({"abc"}, {{2, 0}}).value(), ElementsAre(2, 0)) << "one is as it came";
  EXPECT_THAT(std::string(JoinEmbeddings({"a", "b"}, {{1, 0}, {1}}).status().message()),
              HasSubstr("differ in length"));
  EXPECT_FALSE(JoinEmbeddings({"a", "b"}, {{1, 0}, {-1, 0}}).ok());
}

}  // namespace
}  // namespace ksearch

#include "common/memory_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch {
namespace {

TEST(MemoryWordsTest, EveryValueHasAWordThatNamesIt) {
  for (int i = 0; i <= v1::Bottleneck_MAX; ++i) {
    const auto value = static_cast<v1::Bottleneck>(i);
    EXPECT_EQ(BottleneckNamed(BottleneckWord(value)), value);
  }
  for (int i = 0; i <= v1::IntentKind_MAX; ++i) {
    const auto value = static_cast<v1::IntentKind>(i);
    EXPECT_EQ(IntentNamed(IntentWord(value)), value);
  }
  EXPECT_EQ(BottleneckWord(v1::BOTTLENECK_MEMORY_BANDWIDTH), "memory bandwidth");
  EXPECT_EQ(IntentWord(v1::INTENT_KIND_TENSOR_CORES), "tensor cores");
}

TEST(MemoryWordsTest, WordsAreReadInAnySpellingAndOthersRefused) {
  EXPECT_EQ(BottleneckNamed(" Memory_Bandwidth "), v1::BOTTLENECK_MEMORY_BANDWIDTH);
  EXPECT_EQ(IntentNamed("TENSOR-CORES"), v1::INTENT_KIND_TENSOR_CORES);
  EXPECT_EQ(BottleneckNamed("the weather"), std::nullopt);
  EXPECT_EQ(IntentNamed(""), std::nullopt);
}

TEST(MemoryWordsTest, ValuesOfANewerVersionHaveAWordToo) {
  EXPECT_EQ(BottleneckWord(static_cast<v1::Bottleneck>(99)), "not known");
  EXPECT_EQ(IntentWord(static_cast<v1::IntentKind>(99)), "other");
}

TEST(MemoryWordsTest, ListsHaveEveryWordButTheUnknownOne) {
  EXPECT_THAT(BottleneckWords(), testing::StartsWith("memory bandwidth, memory latency, "));
  EXPECT_THAT(IntentWords(), testing::Not(testing::HasSubstr("other")));
  EXPECT_THAT(IntentWords(), testing::EndsWith(", tune"));
}

}  // namespace
}  // namespace ksearch

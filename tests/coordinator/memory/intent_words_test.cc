#include "coordinator/memory/intent_words.h"

#include <gtest/gtest.h>

#include <string>

#include "common/rng.h"

namespace ksearch {
namespace {

TEST(IntentWordsTest, WordsOfModelsBecomeOnesOfTheVocabulary) {
  struct Case {
    const char* text;
    v1::IntentKind expected;
  };
  const Case cases[] = {
      {"Use float4 loads and 128-bit stores so that each access moves 16 bytes.",
       v1::INTENT_KIND_VECTORIZE},
      {"Stage the tile in shared memory with a swizzled layout to avoid bank conflicts.",
       v1::INTENT_KIND_SHARED_MEMORY},
      {"Double-buffer with cp.async, prefetching the next stage.", v1::INTENT_KIND_PIPELINE},
      {"Warp-specialized pipeline", v1::INTENT_KIND_PIPELINE},
      {"FUSE both loops: a single pass over each row", v1::INTENT_KIND_FUSE},
      {"wgmma on the tensor cores", v1::INTENT_KIND_TENSOR_CORES},
      {"split-K over more blocks", v1::INTENT_KIND_DECOMPOSE},
      {"Raise occupancy with __launch_bounds__ and less register pressure.",
       v1::INTENT_KIND_OCCUPANCY},
      {"persistent kernel: one launch for all rows", v1::INTENT_KIND_LAUNCH},
      {"warp-shuffle reduction", v1::INTENT_KIND_REDUCE},
      {"I changed it.", v1::INTENT_KIND_UNSPECIFIED},
      {"", v1::INTENT_KIND_UNSPECIFIED},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(v1::IntentKind_Name(IntentIn("", each.text)), v1::IntentKind_Name(each.expected))
        << each.text;
  }
}

TEST(IntentWordsTest, TheTitleCountsMoreThanAMention) {
  EXPECT_EQ(IntentIn("Tile for L2", "unroll the loop"), v1::INTENT_KIND_TILE);
  EXPECT_EQ(IntentIn("", "tile for L2, unroll and unroll again"), v1::INTENT_KIND_UNROLL);
}

TEST(IntentWordsTest, NoTextIsTooLongOrTooOdd) {
  EXPECT_EQ(IntentIn("", std::string(50 << 20, 'x')), v1::INTENT_KIND_UNSPECIFIED);
  Rng rng(7);
  for (int i = 0; i < 200; ++i) {
    std::string text;
    for (int j = 0; j < 300; ++j) text += static_cast<char>(rng.NextBelow(256));
    EXPECT_TRUE(v1::IntentKind_IsValid(IntentIn(text, text)));
  }
}

}  // namespace
}  // namespace ksearch

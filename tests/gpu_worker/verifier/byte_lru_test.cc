#include "gpu_worker/verifier/byte_lru.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

TEST(ByteLruTest, DropsWhatWasUsedLongestAgo) {
  ByteLru<int> lru(10);
  lru.Insert("a", std::make_shared<int>(1), 4);
  lru.Insert("b", std::make_shared<int>(2), 4);
  EXPECT_NE(lru.Find("a"), nullptr);
  lru.Insert("c", std::make_shared<int>(3), 5);
  EXPECT_EQ(lru.Find("b"), nullptr);
  EXPECT_EQ(*lru.Find("a"), 1);
  lru.Insert("a", std::make_shared<int>(9), 1);
  EXPECT_EQ(*lru.Find("a"), 9);
  EXPECT_EQ(lru.bytes(), 6);
  lru.Insert("huge", std::make_shared<int>(4), 11);
  EXPECT_EQ(lru.Find("huge"), nullptr);
  EXPECT_NE(lru.Find("c"), nullptr);
}

TEST(ByteLruTest, ErasesWhatIsUnwanted) {
  ByteLru<int> lru(10);
  for (const char* key : {"a/1", "b/1", "a/2"}) lru.Insert(key, std::make_shared<int>(1), 2);
  lru.EraseIf([](const std::string& key) { return key[0] == 'a'; });
  EXPECT_EQ(lru.Find("a/1"), nullptr);
  EXPECT_EQ(lru.Find("a/2"), nullptr);
  EXPECT_NE(lru.Find("b/1"), nullptr);
  EXPECT_EQ(lru.bytes(), 2);
}

}  // namespace
}  // namespace ksearch

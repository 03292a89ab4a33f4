#include "coordinator/proposer/text_safety.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ksearch {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(TextSafetyTest, ShortTextIsLeftAlone) { EXPECT_EQ(Shortened("abc", 3, Keep::kHead), "abc"); }

TEST(TextSafetyTest, EachEndCanBeKept) {
  const std::string text = "BEGIN" + std::string(1000, '.') + "END";
  const std::string head = Shortened(text, 200, Keep::kHead);
  EXPECT_THAT(head, StartsWith("BEGIN"));
  EXPECT_THAT(head, HasSubstr("1008 characters in all; the rest is left out"));
  EXPECT_THAT(Shortened(text, 200, Keep::kTail), EndsWith("END"));
  const std::string both = Shortened(text, 200, Keep::kBothEnds);
  EXPECT_THAT(both, StartsWith("BEGIN"));
  EXPECT_THAT(both, EndsWith("END"));
}

TEST(TextSafetyTest, LimitsHoldAndCharactersStayWhole) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "\xE2\x82\xAC\xF0\x9F\x98\x80z";
  for (size_t limit = 0; limit < 400; ++limit) {
    for (const Keep keep : {Keep::kHead, Keep::kTail, Keep::kBothEnds}) {
      const std::string cut = Shortened(text, limit, keep);
      EXPECT_LE(cut.size(), limit);
      EXPECT_TRUE(IsValidUtf8(cut)) << limit;
    }
  }
}

TEST(TextSafetyTest, ControlCharactersGo) {
  EXPECT_EQ(SafeLine("a\x1b[31m\nb\tc\r", 100), "a?[31m b c");
  EXPECT_EQ(SafeText("a\r\nb\tc\x01"), "a\nb\tc?");
  EXPECT_EQ(SafeText("\xFF\xC0\x80ok"), "???ok");
  EXPECT_EQ(SafeLine("abcdef", 3), "abc...");
}

TEST(TextSafetyTest, Utf8) {
  EXPECT_TRUE(IsValidUtf8("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"));
  for (const char* bad : {"\xC3", "\xE2\x82", "\x80", "\xC0\xAF", "\xED\xA0\x80",
                          "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xE0\x80\x80"}) {
    EXPECT_FALSE(IsValidUtf8(bad));
  }
}

}  // namespace
}  // namespace ksearch

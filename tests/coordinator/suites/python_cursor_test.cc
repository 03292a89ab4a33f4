#include "coordinator/suites/flashinfer/python_cursor.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace ksearch {
namespace {

using StringEnd = PythonCursor::StringEnd;

// Skips the string whose first quote is at `at`; returns how it ended and what follows it.
std::pair<StringEnd, std::string> Skipped(absl::string_view text, size_t at) {
  PythonCursor cursor(text, at);
  const StringEnd end = cursor.SkipString();
  return {end, std::string(cursor.Rest())};
}

TEST(PythonCursorTest, StringsEndAtTheirOwnQuote) {
  EXPECT_EQ(Skipped(R"('a"b' rest)", 0), std::pair(StringEnd::kClosed, std::string(" rest")));
  EXPECT_EQ(Skipped(R"('a\'b' rest)", 0), std::pair(StringEnd::kClosed, std::string(" rest")));
  EXPECT_EQ(Skipped("\"\"\"a\n\"b\"\"\" rest", 0),
            std::pair(StringEnd::kClosed, std::string(" rest")));
  EXPECT_EQ(Skipped("'a\nb'", 0).first, StringEnd::kUnclosed);
  EXPECT_EQ(Skipped("'''a'", 0).first, StringEnd::kUnclosed);
}

TEST(PythonCursorTest, FieldsMayHaveStringsWithTheSameQuote) {
  EXPECT_EQ(Skipped("f'{a['b']:{w}} {{' rest", 1),
            std::pair(StringEnd::kClosed, std::string(" rest")));
  // Without the prefix, the second quote ends the string.
  EXPECT_EQ(Skipped("'{a['b", 0), std::pair(StringEnd::kClosed, std::string("b")));
  EXPECT_EQ(Skipped("f'{a # b\n}'", 1).first, StringEnd::kNotUnderstood);
}

TEST(PythonCursorTest, CommentsEndBeforeTheNewline) {
  PythonCursor cursor("# it's\nx");
  EXPECT_TRUE(cursor.SkipComment());
  EXPECT_EQ(cursor.Rest(), "\nx");
  EXPECT_FALSE(cursor.SkipComment());
  EXPECT_EQ(cursor.line(), 1);
  cursor.Advance();
  EXPECT_EQ(cursor.line(), 2);
  cursor.Advance(5);
  EXPECT_TRUE(cursor.AtEnd());
}

}  // namespace
}  // namespace ksearch

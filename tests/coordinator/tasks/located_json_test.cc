#include "coordinator/tasks/located_json.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using Kind = LocatedJson::Kind;
using testing::HasSubstr;

std::string ErrorOf(absl::string_view text) {
  return std::string(ParseLocatedJson(text, "f").status().message());
}

TEST(LocatedJsonTest, KeepsOrderKindsAndLines) {
  const auto json = ParseLocatedJson("{\"z\": 1,\n \"a\": [0.0,\n 2\n], \"m\":\nnull}", "f");
  ASSERT_TRUE(json.ok()) << json.status();
  ASSERT_EQ(json->members.size(), 3u);
  EXPECT_EQ(json->members[0].name, "z");
  EXPECT_EQ(json->members[1].name, "a");
  EXPECT_EQ(json->members[0].value.kind, Kind::kInteger);
  EXPECT_EQ(json->members[1].value.items[0].kind, Kind::kFloat);
  EXPECT_EQ(json->members[1].value.items[1].kind, Kind::kInteger);
  EXPECT_EQ(json->line, 1);
  EXPECT_EQ(json->members[1].value.items[0].line, 2);
  EXPECT_EQ(json->members[1].value.items[1].line, 3);
  EXPECT_EQ(json->members[2].value.line, 5);
}

TEST(LocatedJsonTest, SyntaxErrorNamesFileAndLine) {
  EXPECT_THAT(ErrorOf("{\n\"a\": 1,\n\"b\" 2}"), HasSubstr("f:3: "));
  EXPECT_THAT(ErrorOf(""), HasSubstr("f:1: "));
  EXPECT_THAT(ErrorOf("[1] x"), HasSubstr("f:1: "));
  EXPECT_THAT(ErrorOf("1e999"), HasSubstr("f:1: "));
}

TEST(LocatedJsonTest, CountsFromTheGivenLine) {
  EXPECT_THAT(std::string(ParseLocatedJson("{", "f", 42).status().message()), HasSubstr("f:42: "));
}

TEST(LocatedJsonTest, RejectsAMemberThatOccursTwice) {
  EXPECT_EQ(ErrorOf("{\"a\": 1,\n \"a\": 2}"), "f:2: member 'a' occurs twice");
}

TEST(LocatedJsonTest, RejectsDeepNesting) {
  EXPECT_THAT(ErrorOf(std::string(1000, '[')), HasSubstr("nested deeper than"));
}

TEST(LocatedJsonTest, IntegersBeyondInt64BecomeFloats) {
  const auto json = ParseLocatedJson("[9223372036854775807, 9223372036854775808]", "f");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(json->items[0].kind, Kind::kInteger);
  EXPECT_EQ(json->items[1].kind, Kind::kFloat);
}

TEST(LocatedJsonTest, WritesWhatItRead) {
  const std::string text = "{\"z\":[0.0,0,-1.5,true,null,\"\\\"\\n\"],\"a\":{}}";
  const auto json = ParseLocatedJson(text, "f");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(WriteJson(*json, -1), text);
}

}  // namespace
}  // namespace ksearch

#include "cli/task/axis_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Texts(const std::vector<std::string>& arguments) {
  const auto parsed = ParseShapes(arguments);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  std::vector<std::string> texts;
  for (const AxisValues& axes : *parsed) texts.push_back(ShapeText(axes));
  return texts;
}

TEST(AxisWordsTest, ListsStandForEveryCombination) {
  EXPECT_THAT(Texts({"n=1024,4096"}), ElementsAre("n=1024", "n=4096"));
  EXPECT_THAT(Texts({"n=1,2,d=64, 65"}),
              ElementsAre("n=1,d=64", "n=1,d=65", "n=2,d=64", "n=2,d=65"));
}

TEST(AxisWordsTest, MoreArgumentsAddWorkloadsInTheFirstOrder) {
  EXPECT_THAT(Texts({"n=1,d=64", "d=7,n=3", "n=1,d=64"}), ElementsAre("n=1,d=64", "n=3,d=7"));
}

TEST(AxisWordsTest, WhatCannotBeMeantIsQuoted) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, "--shapes is missing"},
      {{""}, "must begin with AXIS=VALUE"},
      {{"1024"}, "must begin with AXIS=VALUE"},
      {{"n="}, "'' of the axis 'n'"},
      {{"n=12x"}, "'12x' of the axis 'n'"},
      {{"n=0"}, "from 1 to 2147483648"},
      {{"n=-4"}, "from 1 to 2147483648"},
      {{"n=4294967296"}, "from 1 to 2147483648"},
      {{"2n=4"}, "'2n' cannot name an axis"},
      {{"a b=4"}, "'a b' cannot name an axis"},
      {{"=4"}, "'' cannot name an axis"},
      {{"n=4,n=5"}, "'n' stands there twice"},
      {{"n=1,2,3,4,5,6,m=1,2,3,4,5", "n=7,8,9,m=4"}, "'n=7,8,9,m=4': with it there are more than"},
      {{"n=4", "m=4"}, "must have the axes of the first, n"},
      {{"n=4", "n=4,m=4"}, "must have the axes of the first, n"},
      {{"n=1,2,3,4,5,6,m=1,2,3,4,5,6"}, "more than 32 workloads"},
      {{"n=1,2,3,4,5,6,m=1,2,3,4,5,6,k=7"}, "m=1,2,3,4,5,6,k=7': stands for more than 32"},
      {{"n=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,d=4"},
       ",d=4': stands for more than 32 workloads"},
  };
  for (const auto& [arguments, message] : cases) {
    const auto parsed = ParseShapes(arguments);
    ASSERT_FALSE(parsed.ok()) << message;
    EXPECT_THAT(parsed.status().message(), AllOf(HasSubstr("--shapes"), HasSubstr(message)));
  }
}

TEST(AxisWordsTest, LongTextsEndSoonAndAreCutInTheMessage) {
  std::string text = "a0=1";
  for (int i = 1; i < 20000; ++i) absl::StrAppend(&text, ",a", i, "=1");
  const auto parsed = ParseShapes({text});
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(parsed.status().message(),
              AllOf(HasSubstr("...': more than 32 axes"), HasSubstr("--shapes 'a0=1,a1=1")));
  EXPECT_LT(parsed.status().message().size(), 300u);
}

}  // namespace
}  // namespace ksearch

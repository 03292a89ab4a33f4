#include "common/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(SplitArgumentsTest, BothFormsAreTakenInOrder) {
  const auto split = SplitArguments({"--a", "1", "--b=2=3", "--c="});
  ASSERT_TRUE(split.ok());
  EXPECT_THAT(*split, ElementsAre(Pair("--a", "1"), Pair("--b", "2=3"), Pair("--c", "")));
  EXPECT_TRUE(SplitArguments({})->empty());
}

TEST(SplitArgumentsTest, ArgumentWithoutAValueIsNamed) {
  EXPECT_THAT(std::string(SplitArguments({"--a=1", "--last"}).status().message()),
              HasSubstr("--last"));
}

TEST(ExitCodeOfBadStartTest, AWrongCommandLineIsToldFromAFaultyFile) {
  EXPECT_EQ(ExitCodeOfBadStart(SplitArguments({"--last"}).status()), 2);
  EXPECT_EQ(ExitCodeOfBadStart(UsageError("unknown argument")), 2);
  EXPECT_EQ(ExitCodeOfBadStart(absl::InvalidArgumentError("slots: -1")), 3);
}

}  // namespace
}  // namespace ksearch

#include "autoscaler/spending.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

TEST(SpendingTest, AmountsAreReadToTheBillionth) {
  EXPECT_EQ(ParseUsd("2.49").value(), 2'490'000'000);
  EXPECT_EQ(ParseUsd("0.000000001").value(), 1);
  EXPECT_EQ(ParseUsd("1000000").value(), 1'000'000'000'000'000);
  for (const char* bad :
       {"", ".", "1.", ".5", "-1", "1e3", "1.0000000001", "1000001", "$2", "1 "}) {
    EXPECT_FALSE(ParseUsd(bad).ok()) << bad;
  }
  EXPECT_EQ(ParseUsd("cheap").status().message(),
            "'cheap' is not an amount of US dollars; write one such as 2.49, up to 1000000");
}

TEST(SpendingTest, WhatWasSpentOutlivesTheProcess) {
  const std::string path = testing::TempDir() + "/spending_test.state";
  std::filesystem::remove(path);
  {
    auto spending = Spending::Open(path);
    ASSERT_TRUE(spending.ok()) << spending.status();
    spending->Add("a", 3, absl::Minutes(20), 2'000'000'000);
    EXPECT_EQ(spending->Of("a"), 2'000'000'000);
    ASSERT_TRUE(spending->Save().ok());
  }
  auto spending = Spending::Open(path);
  ASSERT_TRUE(spending.ok()) << spending.status();
  EXPECT_EQ(spending->Of("a"), 2'000'000'000);
  EXPECT_EQ(spending->Of("b"), 0);
  std::ofstream(path) << "nonsense";
  EXPECT_THAT(std::string(Spending::Open(path).status().message()),
              HasSubstr("spending_test.state"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace ksearch

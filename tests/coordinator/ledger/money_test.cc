#include "coordinator/ledger/money.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch {
namespace {

TEST(MoneyTest, DecimalTextIsReadExactly) {
  EXPECT_EQ(ParseUsd("12").value(), 12 * kNanoPerUsd);
  EXPECT_EQ(ParseUsd("0.05").value(), 50'000'000);
  EXPECT_EQ(ParseUsd(".000000001").value(), 1);
  EXPECT_EQ(ParseUsd("0").value(), 0);
  EXPECT_EQ(ParseUsd("3.").value(), 3 * kNanoPerUsd);
  EXPECT_EQ(ParseUsd("1000000").value(), 1'000'000 * kNanoPerUsd);
}

TEST(MoneyTest, WhatIsNoAmountIsRefusedNamingIt) {
  for (const char* text : {"", ".", "-1", "1e3", "$5", "1,5", "0.0000000001", "1000001",
                           "99999999999999999999", "1 ", "0x1"}) {
    const auto nano = ParseUsd(text);
    EXPECT_EQ(nano.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(nano.status().message()), testing::HasSubstr(text));
  }
}

TEST(MoneyTest, TextRoundsUpAndReadsBack) {
  EXPECT_EQ(UsdText(1'250'000'000), "$1.25");
  EXPECT_EQ(UsdText(42'000), "$0.000042");
  EXPECT_EQ(UsdText(1), "$0.000001");
  EXPECT_EQ(UsdText(0), "$0.00");
  EXPECT_EQ(UsdText(999'999'999), "$1.00");
  for (const int64_t nano : {int64_t{0}, int64_t{1'000}, int64_t{1'234'567'000}, 7 * kNanoPerUsd}) {
    EXPECT_EQ(ParseUsd(UsdText(nano).substr(1)).value(), nano);
  }
}

}  // namespace
}  // namespace ksearch

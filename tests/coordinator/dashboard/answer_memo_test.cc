#include "coordinator/dashboard/answer_memo.h"

#include <gtest/gtest.h>

#include "tests/fakes/fake_clock.h"

namespace ksearch::dashboard {
namespace {

TEST(AnswerMemo, AsksAgainOnlyAfterAMoment) {
  FakeClock clock;
  AnswerMemo memo({}, &clock);
  int asked = 0;
  const auto ask = [&]() -> absl::StatusOr<std::string> { return std::to_string(++asked); };
  EXPECT_EQ(**memo.Get("a", ask), "1");
  EXPECT_EQ(**memo.Get("a", ask), "1");
  EXPECT_EQ(**memo.Get("b", ask), "2");
  clock.Advance(absl::Seconds(1));
  EXPECT_EQ(**memo.Get("a", ask), "3");
}

TEST(AnswerMemo, KeepsNoErrors) {
  FakeClock clock;
  AnswerMemo memo({}, &clock);
  EXPECT_FALSE(memo.Get("a", [] { return absl::UnavailableError("later"); }).ok());
  EXPECT_TRUE(memo.Get("a", []() -> absl::StatusOr<std::string> { return "now"; }).ok());
}

TEST(AnswerMemo, IsBounded) {
  FakeClock clock;
  AnswerMemo memo({.most = 2, .most_bytes = 10}, &clock);
  int asked = 0;
  const auto ask = [&]() -> absl::StatusOr<std::string> {
    ++asked;
    return "1234";
  };
  for (const char* question : {"a", "b", "c", "c"}) ASSERT_TRUE(memo.Get(question, ask).ok());
  EXPECT_EQ(asked, 4) << "there was no room for c";
  ASSERT_TRUE(memo.Get("a", ask).ok());
  EXPECT_EQ(asked, 4);
}

}  // namespace
}  // namespace ksearch::dashboard

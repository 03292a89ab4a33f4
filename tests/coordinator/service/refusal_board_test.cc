#include "coordinator/service/refusal_board.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/fakes/fake_clock.h"

namespace ksearch {
namespace {

class RefusalBoardTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  RefusalBoard board_{clock_};
};

TEST_F(RefusalBoardTest, CountsTheSameAndTellsOfItNowAndThen) {
  EXPECT_TRUE(board_.Note("gpu1", "expired").has_value());
  EXPECT_FALSE(board_.Note("gpu1", "expired").has_value());
  clock_.Advance(absl::Seconds(11));
  const auto again = board_.Note("gpu1", "expired");
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->kind(), v1::FleetEvent::WORKER_REFUSED);
  EXPECT_EQ(again->worker_name(), "gpu1");
  EXPECT_EQ(again->text(), "expired");
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(board_.Note("gpu2", "expired").has_value());
  const auto refusals = board_.Refusals();
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_EQ(refusals[0].worker_name(), "gpu2") << "newest first";
  EXPECT_EQ(refusals[1].times(), 3);
  clock_.Advance(absl::Hours(2));
  EXPECT_TRUE(board_.Refusals().empty());
}

TEST_F(RefusalBoardTest, StrangersCannotFillItNorWriteOnTerminals) {
  for (int i = 0; i < 1000; ++i) {
    board_.Note(absl::StrCat("w", i, "\x1b[2J\n"), std::string(100'000, 'x'));
    clock_.Advance(absl::Milliseconds(1));
  }
  const auto refusals = board_.Refusals();
  ASSERT_EQ(refusals.size(), 64u);
  EXPECT_EQ(refusals[0].worker_name(), "w999?[2J?");
  EXPECT_LE(refusals[0].reason().size(), 1024u);
}

}  // namespace
}  // namespace ksearch

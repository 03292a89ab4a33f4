#include "coordinator/store/state_pieces.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::IsEmpty;

std::string RandomBytes(size_t size, Rng* rng) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng->NextBelow(256));
  return bytes;
}

// As the store does it.
size_t Apply(const PieceChanges& changes, StatePieces* stored) {
  size_t written = 0;
  for (const auto& [number, body] : changes.written) {
    (*stored)[number] = std::string(body);
    written += body.size();
  }
  for (const int64_t number : changes.removed) EXPECT_EQ(stored->erase(number), 1u);
  return written;
}

TEST(StatePiecesTest, PiecesAreTheBytesAndNoneIsLong) {
  Rng rng(1);
  for (const size_t size : {0, 1, 511, 512, 513, 8192, 8193, 300000}) {
    for (const std::string& bytes : {RandomBytes(size, &rng), std::string(size, 'a')}) {
      const auto pieces = CutByContent(bytes);
      EXPECT_EQ(absl::StrJoin(pieces, ""), bytes);
      for (const absl::string_view piece : pieces) EXPECT_LE(piece.size(), 8192u);
    }
  }
}

TEST(StatePiecesTest, WhatIsPutInChangesThePiecesAroundIt) {
  constexpr uint64_t kSeed = 3;
  Rng rng(kSeed);
  std::string state = RandomBytes(1 << 20, &rng);
  StatePieces stored;
  EXPECT_EQ(Apply(ChangePieces(stored, state), &stored), state.size());
  size_t written = 0;
  constexpr int kChanges = 200;
  for (int i = 0; i < kChanges; ++i) {
    const size_t at = rng.NextBelow(state.size());
    if (i % 3 == 0) {
      state.erase(at, 1 + rng.NextBelow(300));
    } else if (i % 3 == 1) {
      state.insert(at, RandomBytes(1 + rng.NextBelow(300), &rng));
    } else {
      state[at] = static_cast<char>(state[at] + 1);
    }
    const PieceChanges changes = ChangePieces(stored, state);
    written += Apply(changes, &stored);
    const auto joined = JoinPieces(stored, changes.order);
    ASSERT_TRUE(joined.ok()) << joined.status();
    ASSERT_EQ(*joined, state) << "seed " << kSeed << ", change " << i;
  }
  EXPECT_LT(written, kChanges * size_t{6000});
  // Numbers are used again.
  EXPECT_LT(stored.rbegin()->first, 6000);
}

TEST(StatePiecesTest, EqualPiecesAreKeptOnce) {
  StatePieces stored;
  const std::string state(100000, 'a');
  const PieceChanges changes = ChangePieces(stored, state);
  Apply(changes, &stored);
  EXPECT_LE(stored.size(), 2u);
  EXPECT_EQ(JoinPieces(stored, changes.order).value(), state);
}

TEST(StatePiecesTest, AnOrderStaysShort) {
  Rng rng(6);
  std::string state = RandomBytes(1 << 20, &rng);
  StatePieces stored;
  Apply(ChangePieces(stored, state), &stored);
  for (int i = 0; i < 200; ++i) {
    const size_t at = rng.NextBelow(state.size());
    state[at] = static_cast<char>(state[at] + 1);
    const PieceChanges changes = ChangePieces(stored, state);
    Apply(changes, &stored);
    ASSERT_LE(changes.order.size(), 2048u) << "of " << stored.size() << " pieces, change " << i;
  }
}

TEST(StatePiecesTest, OrdersWithoutRunsAreRead) {
  const StatePieces stored = {{1, "a"}, {2, "b"}, {300, "c"}};
  EXPECT_EQ(JoinPieces(stored, "\x02\x01\xac\x02\x01").value(), "baca");
}

TEST(StatePiecesTest, TheSameStateWritesNothing) {
  Rng rng(4);
  const std::string state = RandomBytes(50000, &rng);
  StatePieces stored;
  const std::string order = ChangePieces(stored, state).order;
  Apply(ChangePieces(stored, state), &stored);
  const PieceChanges again = ChangePieces(stored, state);
  EXPECT_THAT(again.written, IsEmpty());
  EXPECT_THAT(again.removed, IsEmpty());
  EXPECT_EQ(again.order, order);
}

TEST(StatePiecesTest, WhatIsMissingOrCutOffIsDataLoss) {
  Rng rng(5);
  const std::string state = RandomBytes(2'000'000, &rng);
  StatePieces stored;
  const std::string order = ChangePieces(stored, state).order;
  Apply(ChangePieces(stored, state), &stored);
  // The last number has two bytes.
  EXPECT_EQ(JoinPieces(stored, order.substr(0, order.size() - 1)).status().code(),
            absl::StatusCode::kDataLoss);
  stored.erase(7);
  EXPECT_EQ(JoinPieces(stored, order).status().message(), "piece 7 of a state is missing");
}

}  // namespace
}  // namespace ksearch

#include "coordinator/store/state_pieces.h"

#include <set>

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

// Stores pieces like the store.
struct Stored {
  // Returns what was written.
  size_t ChangeTo(const std::string& bytes) {
    const PieceChanges changes = state.ChangeTo(bytes);
    size_t written = 0;
    for (const auto& [number, body] : changes.written) {
      pieces[number] = std::string(body);
      written += body.size();
    }
    for (const int64_t number : changes.removed) EXPECT_EQ(pieces.erase(number), 1u);
    order = changes.order;
    EXPECT_EQ(state.bytes(), bytes);
    return written;
  }

  PiecedState state;
  StatePieces pieces;
  std::string order;
};

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
  Stored stored;
  EXPECT_EQ(stored.ChangeTo(state), state.size());
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
    written += stored.ChangeTo(state);
    const auto joined = JoinPieces(stored.pieces, stored.order);
    ASSERT_TRUE(joined.ok()) << joined.status();
    ASSERT_EQ(*joined, state) << "seed " << kSeed << ", change " << i;
    if (i % 20 == 0) {  // another coordinator continues
      auto read = PiecedState::Read(stored.pieces, stored.order);
      ASSERT_TRUE(read.ok()) << read.status();
      ASSERT_EQ(read->bytes(), state);
      stored.state = *std::move(read);
    }
  }
  EXPECT_LT(written, kChanges * size_t{6000});
  // Numbers are reused.
  EXPECT_LT(stored.pieces.rbegin()->first, 6000);
}

// Whatever the history of a state, cuts are where CutByContent puts them.
TEST(StatePiecesTest, PiecesAreThoseOfAStateCutAnew) {
  constexpr uint64_t kSeed = 8;
  Rng rng(kSeed);
  std::string state = RandomBytes(30000, &rng);
  Stored stored;
  for (int i = 0; i < 300; ++i) {
    switch (rng.NextBelow(5)) {
      case 0:
        state += RandomBytes(rng.NextBelow(400), &rng);
        break;
      case 1:
        state.resize(state.size() - rng.NextBelow(state.size() / 10 + 1));
        break;
      case 2:
        state += state.substr(rng.NextBelow(state.size() + 1), 2000);
        break;
      case 3:
        state.erase(rng.NextBelow(state.size() + 1), rng.NextBelow(2000));
        break;
      default:
        state.insert(rng.NextBelow(state.size() + 1), 1 + rng.NextBelow(9000), 'a');
    }
    stored.ChangeTo(state);
    std::set<std::string> anew, kept;
    for (const absl::string_view piece : CutByContent(state)) anew.emplace(piece);
    for (const auto& [number, body] : stored.pieces) {
      ASSERT_TRUE(kept.insert(body).second) << "kept twice; seed " << kSeed << ", change " << i;
    }
    ASSERT_EQ(anew, kept) << "seed " << kSeed << ", change " << i;
    ASSERT_EQ(JoinPieces(stored.pieces, stored.order).value(), state);
  }
}

TEST(StatePiecesTest, EqualPiecesAreKeptOnce) {
  Stored stored;
  const std::string state(100000, 'a');
  stored.ChangeTo(state);
  EXPECT_LE(stored.pieces.size(), 2u);
  EXPECT_EQ(JoinPieces(stored.pieces, stored.order).value(), state);
}

TEST(StatePiecesTest, AnOrderStaysShort) {
  Rng rng(6);
  std::string state = RandomBytes(1 << 20, &rng);
  Stored stored;
  stored.ChangeTo(state);
  for (int i = 0; i < 200; ++i) {
    const size_t at = rng.NextBelow(state.size());
    state[at] = static_cast<char>(state[at] + 1);
    stored.ChangeTo(state);
    ASSERT_LE(stored.order.size(), 2048u)
        << "of " << stored.pieces.size() << " pieces, change " << i;
  }
}

TEST(StatePiecesTest, OrdersWithoutRunsAreRead) {
  const StatePieces stored = {{1, "a"}, {2, "b"}, {300, "c"}};
  EXPECT_EQ(JoinPieces(stored, "\x02\x01\xac\x02\x01").value(), "baca");
  EXPECT_EQ(PiecedState::Read(stored, "\x02\x01\xac\x02\x01").value().bytes(), "baca");
}

TEST(StatePiecesTest, TheSameStateWritesNothing) {
  Rng rng(4);
  const std::string state = RandomBytes(50000, &rng);
  Stored stored;
  stored.ChangeTo(state);
  const std::string order = stored.order;
  const PieceChanges again = stored.state.ChangeTo(state);
  EXPECT_THAT(again.written, IsEmpty());
  EXPECT_THAT(again.removed, IsEmpty());
  EXPECT_EQ(again.order, order);
}

TEST(StatePiecesTest, WhatNoStateNeedsIsRemovedOrUsedAgain) {
  const std::string state(100, 'a');
  auto read =
      PiecedState::Read({{1, state}, {2, "left over"}, {4, "too"}}, std::string("\0\1\1", 3));
  ASSERT_TRUE(read.ok()) << read.status();
  const PieceChanges changes = read->ChangeTo(state);
  EXPECT_THAT(changes.removed, testing::UnorderedElementsAre(2, 4));
  EXPECT_THAT(changes.written, IsEmpty());
}

TEST(StatePiecesTest, WhatIsMissingOrCutOffIsDataLoss) {
  Rng rng(5);
  const std::string state = RandomBytes(2'000'000, &rng);
  Stored stored;
  stored.ChangeTo(state);
  // The last number has two bytes.
  const std::string cut = stored.order.substr(0, stored.order.size() - 1);
  EXPECT_EQ(JoinPieces(stored.pieces, cut).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(PiecedState::Read(stored.pieces, cut).status().code(), absl::StatusCode::kDataLoss);
  stored.pieces.erase(7);
  const char* const missing = "piece 7 of a state is missing";
  EXPECT_EQ(JoinPieces(stored.pieces, stored.order).status().message(), missing);
  EXPECT_EQ(PiecedState::Read(stored.pieces, stored.order).status().message(), missing);
  EXPECT_EQ(PiecedState::Read({{int64_t{1} << 60, "a"}}, "").status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace ksearch

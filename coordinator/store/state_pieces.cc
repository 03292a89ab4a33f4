#include "coordinator/store/state_pieces.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace ksearch {
namespace {

constexpr size_t kShortestPiece = 128;
constexpr size_t kLongestPiece = 8192;
// A cut after each byte with this many leading zeros in the hash: every 128 bytes or so, beyond the
// shortest piece.
constexpr int kCutBits = 7;
// The number of bytes that the hash covers.
constexpr size_t kWindow = 64;
// An order's first byte. In an order without runs, the first form of schema version 6, that byte
// is the number of a piece, which is not 0.
constexpr char kOrderHasRuns = 0;
// A state of a gigabyte has fewer.
constexpr int64_t kMostPieces = 10'000'000;

// Any 256 numbers that look random; from splitmix64. They decide how stored states are cut, and
// changing them would cost each run one long step.
constexpr std::array<uint64_t, 256> MakeGears() {
  std::array<uint64_t, 256> gears = {};
  uint64_t state = 0x6B736561726368;
  for (uint64_t& gear : gears) {
    state += 0x9E3779B97F4A7C15;
    uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    gear = mixed ^ (mixed >> 31);
  }
  return gears;
}
constexpr std::array<uint64_t, 256> kGears = MakeGears();

size_t HashOf(absl::string_view content) { return absl::Hash<absl::string_view>()(content); }

// The length of the first piece of `bytes`.
size_t PieceLength(absl::string_view bytes) {
  const size_t end = std::min(bytes.size(), kLongestPiece);
  uint64_t hash = 0;
  for (size_t i = kShortestPiece - kWindow; i < end; ++i) {
    hash = (hash << 1) + kGears[static_cast<unsigned char>(bytes[i])];
    if (i >= kShortestPiece && hash >> (64 - kCutBits) == 0) return i + 1;
  }
  return end;
}

// Runs of consecutive numbers as pairs of varints: the first, and how many. A changed piece mostly
// gets the number of the piece that it replaces, so there are few runs.
std::string EncodeOrder(const std::vector<int64_t>& numbers) {
  std::string order(1, kOrderHasRuns);
  google::protobuf::io::StringOutputStream stream(&order);
  google::protobuf::io::CodedOutputStream out(&stream);
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    out.WriteVarint64(static_cast<uint64_t>(numbers[i]));
    out.WriteVarint64(static_cast<uint64_t>(end - i));
    i = end;
  }
  return order;
}

// Reads what EncodeOrder wrote. Ends at the first number that `take` refuses, even within a run.
absl::Status DecodeOrder(absl::string_view order,
                         const std::function<absl::Status(int64_t)>& take) {
  google::protobuf::io::CodedInputStream numbers(reinterpret_cast<const uint8_t*>(order.data()),
                                                 static_cast<int>(order.size()));
  const bool has_runs = !order.empty() && order[0] == kOrderHasRuns;
  if (has_runs) numbers.Skip(1);
  while (static_cast<size_t>(numbers.CurrentPosition()) < order.size()) {
    uint64_t first = 0, count = 1;
    if (!numbers.ReadVarint64(&first) || (has_runs && !numbers.ReadVarint64(&count))) {
      return absl::DataLossError("the order of the pieces of a state is unreadable");
    }
    for (uint64_t i = 0; i < count; ++i) {
      RETURN_IF_ERROR(take(static_cast<int64_t>(first + i)));
    }
  }
  return absl::OkStatus();
}

absl::Status Missing(int64_t number) {
  return absl::DataLossError(absl::StrCat("piece ", number, " of a state is missing"));
}

}  // namespace

std::vector<absl::string_view> CutByContent(absl::string_view bytes) {
  std::vector<absl::string_view> pieces;
  while (!bytes.empty()) {
    const size_t length = PieceLength(bytes);
    pieces.push_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return pieces;
}

absl::StatusOr<std::string> JoinPieces(const StatePieces& stored, absl::string_view order) {
  std::string bytes;
  RETURN_IF_ERROR(DecodeOrder(order, [&](int64_t number) {
    const auto found = stored.find(number);
    if (found == stored.end()) return Missing(number);
    bytes += found->second;
    return absl::OkStatus();
  }));
  return bytes;
}

absl::StatusOr<PiecedState> PiecedState::Read(const StatePieces& stored, absl::string_view order) {
  PiecedState state;
  int64_t numbers = 0;
  for (const auto& [number, body] : stored) {
    if (number < 1 || number > kMostPieces) {
      return absl::DataLossError(absl::StrCat("a piece of a state has number ", number));
    }
    numbers = number;
  }
  state.places_.assign(static_cast<size_t>(numbers) + 1, kNotStored);
  for (const auto& [number, body] : stored) state.places_[number] = kNotNeeded;
  RETURN_IF_ERROR(DecodeOrder(order, [&](int64_t number) {
    const auto found = stored.find(number);
    if (found == stored.end()) return Missing(number);
    state.pieces_.push_back({state.bytes_.size(), found->second.size(), number});
    state.bytes_ += found->second;
    return absl::OkStatus();
  }));
  for (size_t i = 0; i < state.pieces_.size(); ++i) {
    const Piece& piece = state.pieces_[i];
    if (state.places_[piece.number] >= 0) continue;
    state.places_[piece.number] = static_cast<int64_t>(i);
    state.numbers_.emplace(HashOf(state.ContentOf(piece)), piece.number);
  }
  return state;
}

std::optional<size_t> PiecedState::Find(absl::string_view content) const {
  const auto number = numbers_.find(HashOf(content));
  if (number == numbers_.end()) return std::nullopt;
  const auto place = static_cast<size_t>(places_[number->second]);
  if (ContentOf(pieces_[place]) != content) return std::nullopt;
  return place;
}

PieceChanges PiecedState::ChangeTo(absl::string_view bytes) {
  constexpr int64_t kNew = 0;  // the number of a piece that is not stored
  std::vector<Piece> pieces;
  pieces.reserve(pieces_.size());
  std::vector<bool> needed(places_.size());
  size_t expected =
      0;  // place of the piece that followed, in the state before, what was taken last
  for (size_t begin = 0; begin < bytes.size();) {
    const absl::string_view rest = bytes.substr(begin);
    std::optional<size_t> place;
    // Equal content means an equal cut, except for the last piece, which ends with the state.
    if (expected + 1 < pieces_.size() && absl::StartsWith(rest, ContentOf(pieces_[expected]))) {
      place = expected;
    }
    const size_t length = place.has_value() ? pieces_[*place].length : PieceLength(rest);
    if (!place.has_value()) place = Find(rest.substr(0, length));
    const int64_t number = place.has_value() ? pieces_[*place].number : kNew;
    if (place.has_value()) {
      needed[static_cast<size_t>(number)] = true;
      expected = *place + 1;
    }
    pieces.push_back({begin, length, number});
    begin += length;
  }

  PieceChanges changes;
  int64_t next = 1;
  for (size_t number = 1; number < places_.size(); ++number) {
    if (places_[number] == kNotStored) continue;
    next = static_cast<int64_t>(number) + 1;
    if (needed[number]) continue;
    changes.removed.push_back(static_cast<int64_t>(number));
    if (places_[number] == kNotNeeded) continue;
    const auto hash =
        numbers_.find(HashOf(ContentOf(pieces_[static_cast<size_t>(places_[number])])));
    if (hash != numbers_.end() && hash->second == static_cast<int64_t>(number))
      numbers_.erase(hash);
  }
  std::reverse(changes.removed.begin(), changes.removed.end());  // the lowest is taken first
  absl::flat_hash_map<absl::string_view, int64_t> fresh;
  std::vector<int64_t> order;
  order.reserve(pieces.size());
  for (Piece& piece : pieces) {
    if (piece.number == kNew) {
      const absl::string_view content = bytes.substr(piece.begin, piece.length);
      const auto [known, is_new] = fresh.emplace(content, kNew);
      if (is_new) {
        if (changes.removed.empty()) {
          known->second = next++;
        } else {
          known->second = changes.removed.back();
          changes.removed.pop_back();
        }
        changes.written.emplace_back(known->second, content);
        numbers_.emplace(HashOf(content), known->second);
      }
      piece.number = known->second;
    }
    order.push_back(piece.number);
  }
  changes.order = EncodeOrder(order);

  bytes_.assign(bytes.data(), bytes.size());
  pieces_ = std::move(pieces);
  places_.assign(static_cast<size_t>(next), kNotStored);
  for (size_t i = pieces_.size(); i-- > 0;) {
    places_[static_cast<size_t>(pieces_[i].number)] = static_cast<int64_t>(i);
  }
  return changes;
}

}  // namespace ksearch

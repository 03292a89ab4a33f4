#include "coordinator/store/state_pieces.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace ksearch {
namespace {

constexpr size_t kShortestPiece = 128;
constexpr size_t kLongestPiece = 8192;
// A cut after each byte with this many leading zeros in the hash: every 128 bytes or so, beyond the
// shortest piece.
constexpr int kCutBits = 7;
// Bytes that the hash knows of.
constexpr size_t kWindow = 64;
// An order's first byte; in an order without runs, as version 6 of the schema began with, that is
// the number of a piece, which is not 0.
constexpr char kOrderHasRuns = 0;

// Any 256 numbers that look random; splitmix64. They decide what pieces stored states are in, and
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

// Length of the piece that `bytes` begin with.
size_t PieceLength(absl::string_view bytes) {
  const size_t end = std::min(bytes.size(), kLongestPiece);
  uint64_t hash = 0;
  for (size_t i = kShortestPiece - kWindow; i < end; ++i) {
    hash = (hash << 1) + kGears[static_cast<unsigned char>(bytes[i])];
    if (i >= kShortestPiece && hash >> (64 - kCutBits) == 0) return i + 1;
  }
  return end;
}

// Runs of numbers that follow each other, as pairs of varints: the first, and how many. A changed
// piece mostly has the number that the piece in its place had, so there are few runs.
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

PieceChanges ChangePieces(const StatePieces& stored, absl::string_view bytes) {
  absl::flat_hash_map<absl::string_view, int64_t> known;
  for (const auto& [number, body] : stored) known.emplace(body, number);
  const std::vector<absl::string_view> pieces = CutByContent(bytes);
  absl::flat_hash_set<int64_t> needed;
  for (const absl::string_view piece : pieces) {
    if (const auto found = known.find(piece); found != known.end()) needed.insert(found->second);
  }
  PieceChanges changes;
  for (const auto& [number, body] : stored) {
    if (!needed.contains(number)) changes.removed.push_back(number);
  }
  std::reverse(changes.removed.begin(), changes.removed.end());  // the lowest is taken first
  int64_t next = stored.empty() ? 1 : stored.rbegin()->first + 1;
  std::vector<int64_t> numbers;
  for (const absl::string_view piece : pieces) {
    auto found = known.find(piece);
    if (found == known.end()) {
      int64_t number = 0;
      if (changes.removed.empty()) {
        number = next++;
      } else {
        number = changes.removed.back();
        changes.removed.pop_back();
      }
      changes.written.emplace_back(number, piece);
      found = known.emplace(piece, number).first;
    }
    numbers.push_back(found->second);
  }
  changes.order = EncodeOrder(numbers);
  return changes;
}

absl::StatusOr<std::string> JoinPieces(const StatePieces& stored, absl::string_view order) {
  std::string bytes;
  google::protobuf::io::CodedInputStream numbers(reinterpret_cast<const uint8_t*>(order.data()),
                                                 static_cast<int>(order.size()));
  const bool has_runs = !order.empty() && order[0] == kOrderHasRuns;
  if (has_runs) numbers.Skip(1);
  while (static_cast<size_t>(numbers.CurrentPosition()) < order.size()) {
    uint64_t first = 0, count = 1;
    if (!numbers.ReadVarint64(&first) || (has_runs && !numbers.ReadVarint64(&count))) {
      return absl::DataLossError("the order of the pieces of a state is unreadable");
    }
    // Ends at the first piece that is missing, however long the run says it is.
    for (uint64_t i = 0; i < count; ++i) {
      const auto found = stored.find(static_cast<int64_t>(first + i));
      if (found == stored.end()) {
        return absl::DataLossError(absl::StrCat("piece ", first + i, " of a state is missing"));
      }
      bytes += found->second;
    }
  }
  return bytes;
}

}  // namespace ksearch

#ifndef KSEARCH_COORDINATOR_STORE_STATE_PIECES_H_
#define KSEARCH_COORDINATOR_STORE_STATE_PIECES_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// A long state is kept in pieces that are cut where its content says: bytes put in or taken out
// change the piece around them and no other, so that a step of a run writes what it changed,
// however long the state has become.

// A state up to this size is not worth it.
inline constexpr size_t kLongestWholeState = size_t{16} << 10;

// By number, which says nothing of the order.
using StatePieces = std::map<int64_t, std::string>;

// The pieces that `bytes` consists of, in order; each of at most 8 KiB. A cut depends on the 64
// bytes before it and on where the piece began.
std::vector<absl::string_view> CutByContent(absl::string_view bytes);

// How to get from the pieces that are stored to those of another state.
struct PieceChanges {
  std::vector<std::pair<int64_t, absl::string_view>> written;  // new, or in place of one not needed
  std::vector<int64_t> removed;
  std::string order;  // names the pieces of the state, for JoinPieces
};

// The state. DATA_LOSS: `order` names a piece that is not there, or is unreadable.
absl::StatusOr<std::string> JoinPieces(const StatePieces& stored, absl::string_view order);

// A state and the pieces it is stored in. Kept from one step to the next, so that a step compares
// the state with the one before it, and neither reads pieces nor cuts what has not changed.
class PiecedState {
 public:
  PiecedState() = default;  // the empty one, without pieces
  // DATA_LOSS as JoinPieces, or a piece has an impossible number.
  static absl::StatusOr<PiecedState> Read(const StatePieces& stored, absl::string_view order);

  // Becomes the state `bytes`, which must live as long as the changes are used.
  PieceChanges ChangeTo(absl::string_view bytes);
  const std::string& bytes() const { return bytes_; }

 private:
  struct Piece {
    size_t begin = 0;  // in bytes_
    size_t length = 0;
    int64_t number = 0;
  };
  absl::string_view ContentOf(const Piece& piece) const {
    return absl::string_view(bytes_).substr(piece.begin, piece.length);
  }
  // The stored piece with this content; nullopt: there is none.
  std::optional<size_t> Find(absl::string_view content) const;

  std::string bytes_;
  std::vector<Piece> pieces_;  // in the order of the state
  // By number: the first place in pieces_ that it has, or one of the two below.
  static constexpr int64_t kNotStored = -1;
  static constexpr int64_t kNotNeeded = -2;  // stored, and part of no state
  std::vector<int64_t> places_;
  absl::flat_hash_map<size_t, int64_t> numbers_;  // by hash of the content
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_STATE_PIECES_H_

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

// A long state is stored in pieces whose boundaries depend on the content: inserted or removed
// bytes change only the pieces around them. A step of a run therefore writes only what it changed,
// however long the state has become.

// A state up to this size is stored whole.
inline constexpr size_t kLongestWholeState = size_t{16} << 10;

// By number. The numbers are not in the order of the pieces.
using StatePieces = std::map<int64_t, std::string>;

// Splits `bytes` into pieces of at most 8 KiB, in order. A boundary depends on the 64 bytes before
// it and on the start of its piece.
std::vector<absl::string_view> CutByContent(absl::string_view bytes);

// The difference between the stored pieces and those of another state.
struct PieceChanges {
  // new, or replacing one that is no longer needed
  std::vector<std::pair<int64_t, absl::string_view>> written;
  std::vector<int64_t> removed;
  std::string order;  // names the pieces in the order of the state, for JoinPieces
};

// Returns the state. DATA_LOSS: `order` is unreadable or names a missing piece.
absl::StatusOr<std::string> JoinPieces(const StatePieces& stored, absl::string_view order);

// A state with the pieces that it is stored in. It is kept from one step to the next, so that a
// step compares the state with the previous one and neither reads pieces nor splits unchanged
// parts.
class PiecedState {
 public:
  PiecedState() = default;  // the empty state, without pieces
  // DATA_LOSS: as JoinPieces, or a piece has an invalid number.
  static absl::StatusOr<PiecedState> Read(const StatePieces& stored, absl::string_view order);

  // Changes to the state `bytes`, which must outlive every use of the returned changes.
  PieceChanges ChangeTo(absl::string_view bytes);
  const std::string& bytes() const { return bytes_; }

 private:
  struct Piece {
    size_t begin = 0;  // offset in bytes_
    size_t length = 0;
    int64_t number = 0;
  };
  absl::string_view ContentOf(const Piece& piece) const {
    return absl::string_view(bytes_).substr(piece.begin, piece.length);
  }
  // Returns the number of the stored piece with this content, or nullopt.
  std::optional<size_t> Find(absl::string_view content) const;

  std::string bytes_;
  std::vector<Piece> pieces_;  // in the order of the state
  // By piece number: its first index in pieces_, or one of the two constants below.
  static constexpr int64_t kNotStored = -1;
  static constexpr int64_t kNotNeeded = -2;  // stored, but not part of the state
  std::vector<int64_t> places_;
  absl::flat_hash_map<size_t, int64_t> numbers_;  // by hash of the content
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_STATE_PIECES_H_

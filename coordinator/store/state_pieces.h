#ifndef KSEARCH_COORDINATOR_STORE_STATE_PIECES_H_
#define KSEARCH_COORDINATOR_STORE_STATE_PIECES_H_

#include <map>
#include <string>
#include <vector>

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
// `bytes` must live as long as the changes are used.
PieceChanges ChangePieces(const StatePieces& stored, absl::string_view bytes);

// The state. DATA_LOSS: `order` names a piece that is not there, or is unreadable.
absl::StatusOr<std::string> JoinPieces(const StatePieces& stored, absl::string_view order);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_STATE_PIECES_H_

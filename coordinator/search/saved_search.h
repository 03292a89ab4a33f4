#ifndef KSEARCH_COORDINATOR_SEARCH_SAVED_SEARCH_H_
#define KSEARCH_COORDINATOR_SEARCH_SAVED_SEARCH_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/search/program_shelf.h"
#include "coordinator/search/saved_programs.h"
#include "proto/search_service.pb.h"
#include "proto/search_state.pb.h"

namespace ksearch {

inline constexpr int kSearchStateVersion = 2;

// Encodes a state without the nodes and tombstones of its tree, which the shelf has under the
// tree's revision. `solutions` serializes SearchState.solutions.
std::string EncodeWithoutTree(const v1::SearchState& state, SavedPrograms* saved,
                              SavedPrograms* solutions);

// Also reads version 1, and states that include their tree. `trees` provides the trees of other
// states; null: there are none. `had_tree`, if given, receives whether the bytes included the tree.
// DATA_LOSS if the bytes are unreadable, of another version, contain a broken tree, or if their
// tree cannot be found; other errors are those of `trees`.
absl::StatusOr<v1::SearchState> DecodeSearchState(const std::string& bytes,
                                                  const ProgramShelf* trees = nullptr,
                                                  bool* had_tree = nullptr);

// Lets a search that failed, or that finished with a budget smaller than `rounds`, continue where
// it stopped; no effect on other searches.
void ReopenSearch(int rounds, v1::SearchState* state);

// The part of a run's status that the search knows, see SearchStrategy::Describe.
void DescribeSearch(const v1::SearchState& state, v1::RunStatus* status);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_SAVED_SEARCH_H_

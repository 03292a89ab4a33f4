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

// A state without the nodes and tombstones of its tree, which the shelf has by the tree's revision.
// `solutions`: of SearchState.solutions.
std::string EncodeWithoutTree(const v1::SearchState& state, SavedPrograms* saved,
                              SavedPrograms* solutions);

// Reads version 1, too, and states with their whole tree. `trees` has those of others; null: there
// are none. `had_tree`, if given: whether the bytes had it. DATA_LOSS if the bytes are unreadable,
// of another version, or hold a broken tree, or if their tree is nowhere; other errors are those of
// `trees`.
absl::StatusOr<v1::SearchState> DecodeSearchState(const std::string& bytes,
                                                  const ProgramShelf* trees = nullptr,
                                                  bool* had_tree = nullptr);

// Makes a search that failed, or that finished with a budget smaller than `rounds`, go on where it
// stopped; no effect on any other.
void ReopenSearch(int rounds, v1::SearchState* state);

// The part of a run's status that the search knows, see SearchStrategy::Describe.
void DescribeSearch(const v1::SearchState& state, v1::RunStatus* status);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_SAVED_SEARCH_H_

#ifndef KSEARCH_COORDINATOR_SEARCH_SAVED_SEARCH_H_
#define KSEARCH_COORDINATOR_SEARCH_SAVED_SEARCH_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/search_service.pb.h"
#include "proto/search_state.pb.h"

namespace ksearch {

inline constexpr int kSearchStateVersion = 2;

// Reads version 1, too. DATA_LOSS if the bytes are unreadable, of another version, or hold a broken
// tree.
absl::StatusOr<v1::SearchState> DecodeSearchState(const std::string& bytes);

// Makes a search that failed, or that finished with a budget smaller than `rounds`, go on where it
// stopped; no effect on any other.
void TakeUpAgain(int rounds, v1::SearchState* state);

// The part of a run's status that the search knows, see SearchStrategy::Describe.
void DescribeSearch(const v1::SearchState& state, v1::RunStatus* status);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_SAVED_SEARCH_H_

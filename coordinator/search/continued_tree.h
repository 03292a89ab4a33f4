#ifndef KSEARCH_COORDINATOR_SEARCH_CONTINUED_TREE_H_
#define KSEARCH_COORDINATOR_SEARCH_CONTINUED_TREE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/config.pb.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// INVALID_ARGUMENT if the strategy has no tree that it could take over.
absl::Status CheckKeepsTree(absl::string_view strategy);

// Whether a search can begin with the configuration's initial_tree: a strategy with a tree, a
// program to start from, a tree without contradictions, and a program for every solved node, which
// has the name that its text gives it. INVALID_ARGUMENT otherwise. OK without a tree.
absl::Status CheckInitialTree(const v1::RunConfig& config);

// Makes an earlier run's tree, which CheckInitialTree accepts, the one of this search: its nodes,
// lessons and pruned intents, with the programs of its solved nodes as what later programs build
// on. Scores stay as they were measured there, but for that of `seed`, which this run has screened:
// the nodes that it solved have its new score, and if it solved none, it becomes the root's.
void AdoptTree(const v1::InitialTree& tree, const v1::ScreenedProgram& seed,
               v1::SearchState* state);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_CONTINUED_TREE_H_

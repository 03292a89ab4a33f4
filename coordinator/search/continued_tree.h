#ifndef KSEARCH_COORDINATOR_SEARCH_CONTINUED_TREE_H_
#define KSEARCH_COORDINATOR_SEARCH_CONTINUED_TREE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/config.pb.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// INVALID_ARGUMENT if the strategy does not keep a tree.
absl::Status CheckKeepsTree(absl::string_view strategy);

// Checks whether a search can begin with the configuration's initial_tree: the strategy must keep a
// tree, and there must be a program to start from, a consistent tree, and a program for every
// solved node whose id matches its text. INVALID_ARGUMENT otherwise. OK if there is no
// initial_tree.
absl::Status CheckInitialTree(const v1::RunConfig& config);

// Makes an earlier run's tree, which CheckInitialTree must have accepted, the tree of this search:
// nodes, lessons and pruned intents, with the programs of solved nodes for later programs to build
// on. Scores remain as measured by the earlier run, except for `seed`, which this run has screened:
// the nodes that it solved get the new score, and if it solved none, it becomes the root's program.
void AdoptTree(const v1::InitialTree& tree, const v1::ScreenedProgram& seed,
               v1::SearchState* state);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_CONTINUED_TREE_H_

#ifndef KSEARCH_COORDINATOR_WORLD_MODEL_SELECTION_H_
#define KSEARCH_COORDINATOR_WORLD_MODEL_SELECTION_H_

#include <string>
#include <vector>

#include "coordinator/world_model/tree_index.h"
#include "proto/world_model.pb.h"

namespace ksearch {

struct SelectionOptions {
  // The published rule exactly, including its difficulty-cap quirk (arXiv 2602.19128).
  bool paper = false;
  int max_difficulty = 4;
  double virtual_loss = 0.15;  // ignored by paper
};

// The difficulty cap in force: `max_difficulty`, or 4 once a solution reaches half the baseline's
// speed. Paper: also where 4 is tighter. Default: only where it is looser.
int DifficultyCap(const v1::WorldModel& model, const SelectionOptions& options);

// How many cycles in flight share `node`'s branch: those that work on a sibling, or below one of
// its ancestors other than the root. `node` must belong to `model`.
int CyclesOnBranch(const v1::WorldModel& model, const v1::Node& node,
                   const std::vector<std::string>& in_flight);

// Executable actions that no cycle works on (`in_flight`: their node ids), best first: those within
// the difficulty cap, or all if none is, by (score less virtual loss descending, difficulty,
// overall rating descending, node id).
std::vector<const v1::Node*> RankFrontier(const v1::WorldModel& model,
                                          const SelectionOptions& options,
                                          const std::vector<std::string>& in_flight);
std::vector<const v1::Node*> RankFrontier(const TreeIndex& index, const SelectionOptions& options,
                                          const std::vector<std::string>& in_flight);

// First of RankFrontier; null if there is none.
const v1::Node* SelectNode(const v1::WorldModel& model, const SelectionOptions& options,
                           const std::vector<std::string>& in_flight);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_WORLD_MODEL_SELECTION_H_

#include "coordinator/world_model/selection.h"

#include <algorithm>
#include <tuple>

#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

// Constants of the published policy (K-Search, arXiv 2602.19128, and its code).
constexpr int kRelaxedMaxDifficulty = 4;
constexpr double kRelaxAtVsBaseline = 0.5;

// The values that decide are kept here: most comparisons need no node.
struct Ranked {
  const v1::Node* node;
  double score;
  int difficulty;
  double rating;
};

bool RanksBefore(const Ranked& a, const Ranked& b) {
  return std::make_tuple(-a.score, a.difficulty, -a.rating, std::cref(a.node->node_id())) <
         std::make_tuple(-b.score, b.difficulty, -b.rating, std::cref(b.node->node_id()));
}

// The places of the nodes that exist.
std::vector<int> PlacesOf(const std::vector<std::string>& node_ids, const TreeIndex& index) {
  std::vector<int> places;
  for (const std::string& node_id : node_ids) {
    const int place = index.Find(node_id);
    if (place != TreeIndex::kNone) places.push_back(place);
  }
  return places;
}

int CyclesOnBranch(const TreeIndex& index, int place, const std::vector<int>& in_flight) {
  const int branch = index.BranchOf(place);
  int count = 0;
  for (const int other : in_flight) {
    if (other == place) continue;
    const bool siblings = index.ParentOf(other) == index.ParentOf(place);
    const bool same_branch = branch != TreeIndex::kNone && branch == index.BranchOf(other);
    if (siblings || same_branch) ++count;
  }
  return count;
}

// In unspecified order.
std::vector<Ranked> Executable(const TreeIndex& index, const SelectionOptions& options,
                               const std::vector<std::string>& in_flight) {
  const std::vector<int> busy = PlacesOf(in_flight, index);
  std::vector<Ranked> all;
  for (const int place : FrontierPlaces(index)) {
    if (std::find(busy.begin(), busy.end(), place) != busy.end()) continue;
    const double loss =
        options.paper ? 0 : options.virtual_loss * CyclesOnBranch(index, place, busy);
    const v1::Node& node = index.node(place);
    all.push_back(
        {&node, node.action().score() - loss, node.action().difficulty(), node.overall_rating()});
  }
  const int cap = DifficultyCap(index.model(), options);
  std::vector<Ranked> kept;
  std::copy_if(all.begin(), all.end(), std::back_inserter(kept),
               [&](const Ranked& ranked) { return ranked.difficulty <= cap; });
  return kept.empty() ? all : kept;
}

}  // namespace

int DifficultyCap(const v1::WorldModel& model, const SelectionOptions& options) {
  double best_vs_baseline = -1;
  for (const v1::Node& node : model.nodes()) {
    if (IsSolved(node) && node.solution().has_vs_baseline()) {
      best_vs_baseline = std::max(best_vs_baseline, node.solution().vs_baseline());
    }
  }
  int cap = options.max_difficulty;
  if (best_vs_baseline >= kRelaxAtVsBaseline) {
    cap = options.paper ? kRelaxedMaxDifficulty : std::max(cap, kRelaxedMaxDifficulty);
  }
  return std::clamp(cap, 1, 5);
}

int CyclesOnBranch(const v1::WorldModel& model, const v1::Node& node,
                   const std::vector<std::string>& in_flight) {
  const TreeIndex index(model);
  return CyclesOnBranch(index, index.Find(node.node_id()), PlacesOf(in_flight, index));
}

std::vector<const v1::Node*> RankFrontier(const v1::WorldModel& model,
                                          const SelectionOptions& options,
                                          const std::vector<std::string>& in_flight) {
  return RankFrontier(TreeIndex(model), options, in_flight);
}

std::vector<const v1::Node*> RankFrontier(const TreeIndex& index, const SelectionOptions& options,
                                          const std::vector<std::string>& in_flight) {
  std::vector<Ranked> kept = Executable(index, options, in_flight);
  std::sort(kept.begin(), kept.end(), RanksBefore);
  std::vector<const v1::Node*> nodes;
  nodes.reserve(kept.size());
  for (const Ranked& ranked : kept) nodes.push_back(ranked.node);
  return nodes;
}

const v1::Node* SelectNode(const v1::WorldModel& model, const SelectionOptions& options,
                           const std::vector<std::string>& in_flight) {
  const std::vector<Ranked> kept = Executable(TreeIndex(model), options, in_flight);
  const auto first = std::min_element(kept.begin(), kept.end(), RanksBefore);
  return first == kept.end() ? nullptr : first->node;
}

}  // namespace ksearch

#include "coordinator/world_model/selection.h"

#include <algorithm>
#include <tuple>

#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

// Constants of the published policy (K-Search, arXiv 2602.19128, and its code).
constexpr int kRelaxedMaxDifficulty = 4;
constexpr double kRelaxAtVsBaseline = 0.5;

struct Ranked {
  const v1::Node* node;
  double score;
};

bool RanksBefore(const Ranked& a, const Ranked& b) {
  return std::make_tuple(-a.score, a.node->action().difficulty(), -a.node->overall_rating(),
                         std::cref(a.node->node_id())) <
         std::make_tuple(-b.score, b.node->action().difficulty(), -b.node->overall_rating(),
                         std::cref(b.node->node_id()));
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
  const auto own_path = PathFromRoot(model, node.node_id());
  int count = 0;
  for (const std::string& other_id : in_flight) {
    const auto other_path = PathFromRoot(model, other_id);
    if (other_path.empty() || other_id == node.node_id()) continue;
    const bool siblings = other_path.back()->parent_id() == node.parent_id();
    const bool same_branch =
        own_path.size() > 1 && other_path.size() > 1 && own_path[1] == other_path[1];
    if (siblings || same_branch) ++count;
  }
  return count;
}

std::vector<const v1::Node*> RankFrontier(const v1::WorldModel& model,
                                          const SelectionOptions& options,
                                          const std::vector<std::string>& in_flight) {
  std::vector<Ranked> all;
  for (const v1::Node* node : Frontier(model)) {
    if (std::find(in_flight.begin(), in_flight.end(), node->node_id()) != in_flight.end()) continue;
    const double loss =
        options.paper ? 0 : options.virtual_loss * CyclesOnBranch(model, *node, in_flight);
    all.push_back({node, node->action().score() - loss});
  }
  const int cap = DifficultyCap(model, options);
  std::vector<Ranked> kept;
  std::copy_if(all.begin(), all.end(), std::back_inserter(kept),
               [&](const Ranked& ranked) { return ranked.node->action().difficulty() <= cap; });
  if (kept.empty()) kept = std::move(all);
  std::sort(kept.begin(), kept.end(), RanksBefore);
  std::vector<const v1::Node*> nodes;
  for (const Ranked& ranked : kept) nodes.push_back(ranked.node);
  return nodes;
}

const v1::Node* SelectNode(const v1::WorldModel& model, const SelectionOptions& options,
                           const std::vector<std::string>& in_flight) {
  const auto ranked = RankFrontier(model, options, in_flight);
  return ranked.empty() ? nullptr : ranked.front();
}

}  // namespace ksearch

#include "coordinator/world_model/tree_index.h"

#include "coordinator/world_model/world_model.h"

namespace ksearch {

TreeIndex::TreeIndex(const v1::WorldModel& model) : model_(model) {
  const auto count = static_cast<size_t>(model.nodes_size());
  places_.reserve(count);
  for (int i = 0; i < model.nodes_size(); ++i) places_.emplace(model.nodes(i).node_id(), i);
  parents_.assign(count, kNone);
  for (int i = 0; i < model.nodes_size(); ++i) {
    const v1::Node& node = model.nodes(i);
    if (!IsRoot(model, node)) parents_[static_cast<size_t>(i)] = Find(node.parent_id());
  }
  depths_.assign(count, 0);
  branches_.assign(count, kNone);
  std::vector<int> chain;
  for (int i = 0; i < model.nodes_size(); ++i) {
    // Usually only the node itself: parents come before their children.
    chain.clear();
    int place = i;
    // The bound ends the walk on a tree that is not one.
    while (place != kNone && DepthOf(place) == 0 && chain.size() <= count) {
      chain.push_back(place);
      place = ParentOf(place);
    }
    for (auto each = chain.rbegin(); each != chain.rend(); ++each) {
      const auto at = static_cast<size_t>(*each);
      depths_[at] = place == kNone ? 1 : DepthOf(place) + 1;
      branches_[at] = depths_[at] == 2 ? *each : place == kNone ? kNone : BranchOf(place);
      place = *each;
    }
  }
}

int TreeIndex::Find(absl::string_view node_id) const {
  const auto found = places_.find(node_id);
  return found == places_.end() ? kNone : found->second;
}

}  // namespace ksearch

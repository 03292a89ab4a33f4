#ifndef KSEARCH_COORDINATOR_WORLD_MODEL_TREE_INDEX_H_
#define KSEARCH_COORDINATOR_WORLD_MODEL_TREE_INDEX_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// The structure of a tree, read in one pass, for code that asks about all nodes. Nodes are
// identified by their index in `model.nodes()`. Valid until a node is added or removed; other
// changes do not matter. Borrows the model.
class TreeIndex {
 public:
  static constexpr int kNone = -1;

  explicit TreeIndex(const v1::WorldModel& model);

  const v1::WorldModel& model() const { return model_; }
  const v1::Node& node(int place) const { return model_.nodes(place); }
  int size() const { return model_.nodes_size(); }

  // kNone for an unknown id.
  int Find(absl::string_view node_id) const;
  // kNone for the root, and for a node whose parent is unknown.
  int ParentOf(int place) const { return parents_[static_cast<size_t>(place)]; }
  // The number of nodes on the path from the root, including the node itself.
  int DepthOf(int place) const { return depths_[static_cast<size_t>(place)]; }
  // The second node of that path; kNone for the root.
  int BranchOf(int place) const { return branches_[static_cast<size_t>(place)]; }

 private:
  const v1::WorldModel& model_;
  absl::flat_hash_map<absl::string_view, int> places_;
  std::vector<int> parents_;
  std::vector<int> depths_;
  std::vector<int> branches_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_WORLD_MODEL_TREE_INDEX_H_

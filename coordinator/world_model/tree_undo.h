#ifndef KSEARCH_COORDINATOR_WORLD_MODEL_TREE_UNDO_H_
#define KSEARCH_COORDINATOR_WORLD_MODEL_TREE_UNDO_H_

#include <string>
#include <vector>

#include "proto/world_model.pb.h"

namespace ksearch {

// Reverts edits of a tree. Keeps what they changed, so that trying three edits does not require a
// copy of a tree with thousands of nodes. Borrows the tree; places are indices in `model.nodes()`.
class TreeUndo {
 public:
  explicit TreeUndo(v1::WorldModel* model);

  // To be called before each change, or, for a node that was appended, after it. Other parts of the
  // tree may change without notice; tombstones may only be added.
  void WillChange(const v1::Node& node);
  void WillRemove(const v1::Node& node);
  void HasAppended() { changes_.push_back({Kind::kAppended, 0, {}}); }

  // Restores the tree to its original state; afterwards, new changes can be recorded.
  void Undo();

 private:
  enum class Kind { kChanged, kRemoved, kAppended };
  struct Change {
    Kind kind;
    int place;
    v1::Node before;  // of kChanged and kRemoved
  };

  int PlaceOf(const v1::Node& node) const;

  v1::WorldModel& model_;
  v1::WorldModel rest_;  // all but nodes and tombstones
  int tombstones_;
  std::vector<Change> changes_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_WORLD_MODEL_TREE_UNDO_H_

#ifndef KSEARCH_COORDINATOR_WORLD_MODEL_TREE_UNDO_H_
#define KSEARCH_COORDINATOR_WORLD_MODEL_TREE_UNDO_H_

#include <string>
#include <vector>

#include "proto/world_model.pb.h"

namespace ksearch {

// Takes back what edits have done to a tree. Keeps what they changed, so that nobody has to copy a
// tree of thousands of nodes to try three edits on it. Borrows the tree; places are those in
// `model.nodes()`.
class TreeUndo {
 public:
  explicit TreeUndo(v1::WorldModel* model);

  // Each before the change that it names, or for a node that was appended, after it. The rest of
  // the tree may change without notice; tombstones only come.
  void WillChange(const v1::Node& node);
  void WillRemove(const v1::Node& node);
  void HasAppended() { changes_.push_back({Kind::kAppended, 0, {}}); }

  // The tree is as it was at the start; changes can be noted anew.
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

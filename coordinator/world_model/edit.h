#ifndef KSEARCH_COORDINATOR_WORLD_MODEL_EDIT_H_
#define KSEARCH_COORDINATOR_WORLD_MODEL_EDIT_H_

#include <string>
#include <vector>

#include "coordinator/world_model/tree_undo.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// How a model's edit script changes the tree. In neither mode can an edit write a solution, a
// too-hard mark, a lesson, an insertion index or the round of the last update: v1::NodePatch has no
// such fields, so the published system's forged solutions cannot be expressed.
enum class EditMode {
  // As in K-Search's published code: applies ops in order; skips and counts invalid ones.
  kPaper,
  // All or nothing: if there is any error, the tree is unchanged and every error is described.
  // Removed intents leave tombstones and may not be inserted again unchanged. Of the root, only its
  // notes may change.
  kTransactional,
};

struct EditOptions {
  EditMode mode = EditMode::kTransactional;
  int max_new_nodes = 3;  // inserts and split children together
  int round = 0;          // recorded as last_updated_round, and part of fresh ids
  std::string task;       // part of fresh ids
  // Transactional: from a script with errors, applies the valid updates and insertions that do not
  // depend on refused operations; refuses the rest, and all removals and splits. An insertion of a
  // node that already exists (same parent, title and choice) is ignored, because models resend the
  // whole script.
  bool keep_valid = false;
  // Nodes that other cycles are working on, which cannot be removed.
  std::vector<std::string> nodes_in_flight;
};

// Operations that were skipped, by reason (paper), all zero in a clean script.
struct SkipCounts {
  int over_cap = 0;
  int missing_parent = 0;
  int parent_solution_mismatch = 0;
  int update_of_missing_node = 0;
  int invalid_insert = 0;
  int invalid_split_children = 0;
  int delete_not_allowed = 0;

  int total() const {
    return over_cap + missing_parent + parent_solution_mismatch + update_of_missing_node +
           invalid_insert + invalid_split_children + delete_not_allowed;
  }
};

struct EditReport {
  // False only in transactional mode with errors; the model is unchanged then, but for `kept`.
  bool applied = false;
  // The operations that keep_valid applied from a script with errors, for the model: "ops[0]
  // (update of x)".
  std::vector<std::string> kept;
  // One line per error, naming the op ("ops[2]: ..."), for the model. Paper: the skipped ops.
  std::vector<std::string> errors;
  SkipCounts skipped;
  int updates = 0;
  int inserts = 0;
  int split_children = 0;
  int deletes = 0;
  std::vector<std::string> inserted_ids;
  std::vector<std::string> removed_ids;
};

EditReport ApplyEdits(const v1::EditScript& script, const EditOptions& options,
                      v1::WorldModel* model);
// `undo` must be that of `model`; it can revert an edit that was applied.
EditReport ApplyEdits(const v1::EditScript& script, const EditOptions& options,
                      v1::WorldModel* model, TreeUndo* undo);

// Builds the first tree from an INIT reply: kernel summary, open questions and inserted nodes,
// whose parents may be "root" or other inserted nodes in any order. `model` contains only the root.
// Paper: an unknown or missing parent becomes the root, and there is no cap. Transactional: such a
// node, a repeated id or too many nodes is an error; max_new_nodes is the cap of the whole script.
EditReport ApplyInitialModel(const v1::EditScript& script, const EditOptions& options,
                             v1::WorldModel* model);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_WORLD_MODEL_EDIT_H_

#include "coordinator/world_model/edit.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/world_model/node_patch.h"
#include "coordinator/world_model/text.h"
#include "coordinator/world_model/tree_undo.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

constexpr int kMaxSplitChildren = 8;
constexpr size_t kLeastIdPrefix = 8;
constexpr size_t kMaxSummary = 8000;
constexpr int kMaxOpenQuestions = 32;

// Applies one script to one tree, op by op.
class Editor {
 public:
  Editor(const EditOptions& options, v1::WorldModel* model, TreeUndo* undo)
      : options_(options), model_(*model), undo_(*undo) {}

  void Run(const v1::EditScript& script) {
    const std::string active = model_.active_node_id();
    for (int i = 0; i < script.ops_size(); ++i) {
      where_ = absl::StrCat("ops[", i, "]");
      const v1::EditOp& op = script.ops(i);
      const size_t faults_before = report_.errors.size();
      switch (op.op_case()) {
        case v1::EditOp::kUpdate:
          Update(op.update());
          break;
        case v1::EditOp::kInsert:
          Insert(op.insert());
          break;
        case v1::EditOp::kSplit:
          Split(op.split());
          break;
        case v1::EditOp::kRemove:
          Remove(op.remove());
          break;
        case v1::EditOp::OP_NOT_SET:
          Skip(&report_.skipped.invalid_insert, "is none of update, insert, split, delete");
          break;
      }
      if (report_.errors.size() > faults_before) faulty_ops_.insert(i);
    }
    if (!strict()) {
      // As published: if the active node was removed, the root becomes active, not its parent.
      model_.set_active_node_id(FindNode(model_, active) != nullptr ? active : model_.root_id());
    }
    if (script.active_node_id().empty()) return;
    where_ = "active_leaf_id";
    if (const std::string id = Resolve(script.active_node_id()); !id.empty()) {
      model_.set_active_node_id(id);
    } else if (strict()) {
      report_.errors.push_back(
          absl::StrCat("active_leaf_id: there is no node \"", script.active_node_id(), "\""));
    }
  }

  EditReport Finish() {
    model_.set_revision(model_.revision() + 1);
    return std::move(report_);
  }

  const std::set<int>& faulty_ops() const { return faulty_ops_; }

  // One node under `parent_id`; `patch_where` names it in errors. Returns false if it was skipped.
  bool Add(const std::string& parent_id, const std::string& parent_candidate_id,
           const std::string& wanted_id, absl::string_view id_prefix, const v1::NodePatch& patch) {
    if (options_.keep_valid && IsThere(parent_id, patch)) return false;
    if (new_nodes_ >= options_.max_new_nodes) {
      return Skip(&report_.skipped.over_cap,
                  absl::StrCat("more than ", options_.max_new_nodes, " new nodes in one script"));
    }
    const v1::Node* parent = FindNode(model_, parent_id);
    const std::string& solution = parent->solution().candidate_id();
    if (Contradicts(parent_candidate_id, solution)) {
      return Skip(&report_.skipped.parent_solution_mismatch,
                  absl::StrCat("parent_solution_id \"", parent_candidate_id, "\" is not what node ",
                               parent_id, " holds (",
                               solution.empty() ? std::string("no solution") : solution, ")"));
    }
    if (strict() && !CheckPatch(patch)) return false;
    v1::Node node;
    node.set_parent_id(parent_id);
    ApplyPatch(patch, /*is_root=*/false, &node);
    if (!node.has_action()) {
      node.mutable_action()->set_difficulty(kDefaultDifficulty);
      // As published: only an existing action without a score gets one from the rating.
      node.mutable_action()->set_score(strict() ? node.overall_rating() / 10 : 0);
    }
    if (strict()) {
      if (node.action().title().empty() && node.decision().empty()) {
        return Skip(&report_.skipped.invalid_insert,
                    "a new node needs action.title (or a decision, for a grouping node)");
      }
      if (const v1::Tombstone* tombstone = FindTombstone(model_, node); tombstone != nullptr) {
        return Skip(
            &report_.skipped.invalid_insert,
            absl::StrCat("\"", node.action().title(), "\" was pruned as node ",
                         tombstone->node_id(), " in round ", tombstone->round(),
                         tombstone->reason().empty() ? "" : " because: ", tombstone->reason(),
                         "; propose something that differs from it, and say how"));
      }
    }
    std::string id = SanitizedId(wanted_id);
    const bool taken = FindNode(model_, id) != nullptr;
    if (id.empty() || taken) {
      // As published: all ids that a script leaves out share one counter.
      id = FreshId(model_, id_prefix, options_.task, options_.round, "",
                   strict() ? nullptr : &fresh_ids_);
    }
    // As published: an id that is taken still names the node that has it.
    if (!wanted_id.empty() && id != wanted_id && (strict() || !taken)) {
      aliases_.emplace(wanted_id, id);
    }
    node.set_node_id(id);
    node.set_last_updated_round(options_.round);
    AppendNode(&model_, std::move(node));
    undo_.HasAppended();
    report_.inserted_ids.push_back(id);
    ++new_nodes_;
    return true;
  }

  bool Skip(int* counter, absl::string_view why) {
    ++*counter;
    report_.errors.push_back(absl::StrCat(where_, ": ", why));
    return false;
  }
  bool SkipMissing(int* counter, absl::string_view id) {
    return Skip(counter, absl::StrCat("there is no node \"", OneLine(id, 80), "\""));
  }

  void set_where(std::string where) { where_ = std::move(where); }
  EditReport& report() { return report_; }
  bool strict() const { return options_.mode == EditMode::kTransactional; }

 private:
  bool IsThere(const std::string& parent_id, const v1::NodePatch& patch) const {
    if (patch.title().empty()) return false;
    const auto same = [](absl::string_view a, absl::string_view b) {
      return absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(a), absl::StripAsciiWhitespace(b));
    };
    const auto children = ChildrenOf(model_, parent_id);
    return std::any_of(children.begin(), children.end(), [&](const v1::Node* child) {
      return same(child->action().title(), patch.title()) && same(child->choice(), patch.choice());
    });
  }

  // As published: what a script says about an open parent's program is ignored.
  bool Contradicts(const std::string& id, const std::string& solution) const {
    return !id.empty() && !NamesSolution(id, solution) && (strict() || !solution.empty());
  }

  // Prompts of the default preset show ids shortened.
  bool NamesSolution(const std::string& id, const std::string& solution) const {
    return id == solution ||
           (strict() && id.size() >= kLeastIdPrefix && absl::StartsWith(solution, id));
  }

  // The id of the node that `id` names: as written, or as it was changed on insertion; "" if none.
  std::string Resolve(const std::string& id) const {
    if (FindNode(model_, id) != nullptr) return id;
    if (const auto alias = aliases_.find(id); alias != aliases_.end()) return alias->second;
    return "";
  }

  bool CheckPatch(const v1::NodePatch& patch) {
    const std::vector<std::string> faults = RangeFaults(patch);
    for (const std::string& fault : faults) Skip(&report_.skipped.invalid_insert, fault);
    return faults.empty();
  }

  // Patches an existing node; false if that is not allowed.
  bool PatchNode(const std::string& id, const v1::NodePatch& patch) {
    v1::Node* node = FindMutableNode(&model_, id);
    const bool root = IsRoot(model_, *node);
    if (strict()) {
      v1::NodePatch beyond_notes = patch;
      beyond_notes.clear_notes();
      if (root && beyond_notes.ByteSizeLong() > 0) {
        return Skip(&report_.skipped.invalid_insert, "of the root only the notes can change");
      }
      if (!CheckPatch(patch)) return false;
      if (patch.has_title() && patch.title().empty() && !node->action().title().empty()) {
        return Skip(&report_.skipped.invalid_insert, "action.title cannot be made empty");
      }
    }
    // The root has no action: an action that is never selected would only mislead.
    v1::NodePatch allowed = patch;
    if (root) {
      allowed.clear_title();
      allowed.clear_description();
      allowed.clear_rationale();
      allowed.clear_difficulty();
      allowed.clear_score();
      allowed.clear_expected_vs_baseline();
    }
    undo_.WillChange(*node);
    ApplyPatch(allowed, root, node);
    node->set_last_updated_round(options_.round);
    return true;
  }

  void Update(const v1::UpdateNode& op) {
    const std::string id = Resolve(op.node_id());
    if (id.empty()) {
      SkipMissing(&report_.skipped.update_of_missing_node, op.node_id());
      return;
    }
    if (PatchNode(id, op.patch())) ++report_.updates;
  }

  void Insert(const v1::InsertNode& op) {
    // The published order of tests: the cap, the parent, its program, the node.
    const bool room = new_nodes_ < options_.max_new_nodes;
    const std::string parent = Resolve(op.parent_id());
    if (room && parent.empty()) {
      SkipMissing(&report_.skipped.missing_parent, op.parent_id());
      return;
    }
    if (!strict() && room && !op.has_node() &&
        !Contradicts(op.parent_candidate_id(),
                     FindNode(model_, parent)->solution().candidate_id())) {
      Skip(&report_.skipped.invalid_insert, "insert_node without a node");
      return;
    }
    if (Add(parent, op.parent_candidate_id(), op.node_id(), "node_", op.node())) {
      ++report_.inserts;
    }
  }

  void Split(const v1::SplitNode& op) {
    const std::string id = Resolve(op.node_id());
    if (id.empty()) {
      SkipMissing(&report_.skipped.missing_parent, op.node_id());
      return;
    }
    if (strict() && op.children_size() == 0) {
      Skip(&report_.skipped.invalid_split_children, "split_node needs at least one child");
      return;
    }
    if (strict() && op.children_size() > kMaxSplitChildren) {
      Skip(&report_.skipped.invalid_split_children,
           absl::StrCat("split_node with more than ", kMaxSplitChildren, " children"));
      return;
    }
    // As published: this is not counted as an update.
    if (op.has_parent_patch() && PatchNode(id, op.parent_patch()) && strict()) ++report_.updates;
    const std::string where = where_;
    for (int i = 0; i < std::min(op.children_size(), kMaxSplitChildren); ++i) {
      where_ = absl::StrCat(where, ".children[", i, "]");
      const v1::InsertNode& child = op.children(i);
      // As published: neither nodes beyond the cap nor invalid ones are counted.
      if (!strict() && new_nodes_ >= options_.max_new_nodes) {
        Skip(&report_.skipped.over_cap,
             absl::StrCat("more than ", options_.max_new_nodes, " new nodes in one script"));
        break;
      }
      if (!child.has_node()) {
        if (strict()) Skip(&report_.skipped.invalid_split_children, "is not a node");
        continue;
      }
      if (Add(id, child.parent_candidate_id(), child.node_id(), "child_", child.node())) {
        ++report_.split_children;
      }
    }
  }

  void Remove(const v1::DeleteNode& op) {
    int* const counter = &report_.skipped.delete_not_allowed;
    const std::string id = Resolve(op.node_id());
    if (id.empty()) {
      SkipMissing(counter, op.node_id());
      return;
    }
    const v1::Node* node = FindNode(model_, id);
    const auto& busy = options_.nodes_in_flight;
    if (IsRoot(model_, *node)) {
      Skip(counter, "the root cannot be deleted");
    } else if (IsSolved(*node)) {
      Skip(counter, absl::StrCat("node ", id, " holds a solution and cannot be deleted"));
    } else if (!ChildrenOf(model_, id).empty()) {
      Skip(counter, absl::StrCat("node ", id, " has children; delete them first"));
    } else if (std::find(busy.begin(), busy.end(), id) != busy.end()) {
      Skip(counter, absl::StrCat("node ", id, " is being worked on; lower its score instead"));
    } else {
      undo_.WillRemove(*node);
      RemoveLeaf(&model_, id, OneLine(op.reason(), kMaxShortNodeText), options_.round, strict());
      report_.removed_ids.push_back(id);
      ++report_.deletes;
    }
  }

  const EditOptions& options_;
  v1::WorldModel& model_;
  TreeUndo& undo_;
  EditReport report_;
  std::string where_;
  int new_nodes_ = 0;
  int fresh_ids_ = 0;
  std::map<std::string, std::string> aliases_;
  std::set<int> faulty_ops_;
};

std::string NameOf(const v1::EditOp& op, int index) {
  return op.has_update()
             ? absl::StrCat("ops[", index, "] (update of ", op.update().node_id(), ")")
             : absl::StrCat("ops[", index, "] (insertion under ", op.insert().parent_id(), ")");
}

// The largest part of a refused script that applies without a fault: see EditOptions::keep_valid.
void KeepValid(const v1::EditScript& script, const EditOptions& options, std::set<int> faulty,
               EditReport* report, v1::WorldModel* model) {
  for (int i = 0; i < script.ops_size(); ++i) {
    if (!script.ops(i).has_update() && !script.ops(i).has_insert()) faulty.insert(i);
  }
  while (true) {
    v1::EditScript valid;
    std::vector<int> indices;
    for (int i = 0; i < script.ops_size(); ++i) {
      if (faulty.count(i) > 0) continue;
      *valid.add_ops() = script.ops(i);
      indices.push_back(i);
    }
    if (indices.empty()) return;
    TreeUndo undo(model);
    Editor editor(options, model, &undo);
    editor.Run(valid);
    if (!editor.faulty_ops().empty()) {  // they depended on refused ops
      undo.Undo();
      for (const int index : editor.faulty_ops()) faulty.insert(indices[index]);
      continue;
    }
    const EditReport kept = editor.Finish();
    report->inserted_ids = kept.inserted_ids;
    for (const int index : indices) report->kept.push_back(NameOf(script.ops(index), index));
    return;
  }
}

void Describe(const v1::EditScript& script, v1::WorldModel* model) {
  if (!script.kernel_summary().empty()) {
    model->set_kernel_summary(CutText(script.kernel_summary(), kMaxSummary));
  }
  if (script.open_questions_size() == 0) return;
  model->clear_open_questions();
  for (const std::string& question : script.open_questions()) {
    if (model->open_questions_size() == kMaxOpenQuestions) break;
    if (!question.empty()) model->add_open_questions(OneLine(question, kMaxShortNodeText));
  }
}

// Inserts in an order in which every parent comes before its children; the remaining ones have no
// known parent.
std::vector<int> InsertionOrder(const v1::EditScript& script, const v1::WorldModel& model,
                                std::vector<int>* orphans) {
  std::set<std::string> known = {model.root_id()};
  std::vector<int> order;
  std::vector<int> waiting;
  for (int i = 0; i < script.ops_size(); ++i) {
    if (script.ops(i).has_insert()) waiting.push_back(i);
  }
  for (bool progress = true; progress;) {
    progress = false;
    std::vector<int> still;
    for (const int i : waiting) {
      const v1::InsertNode& insert = script.ops(i).insert();
      if (!insert.parent_id().empty() && known.count(insert.parent_id()) == 0) {
        still.push_back(i);
        continue;
      }
      known.insert(insert.node_id());
      order.push_back(i);
      progress = true;
    }
    waiting = std::move(still);
  }
  *orphans = std::move(waiting);
  return order;
}

}  // namespace

EditReport ApplyEdits(const v1::EditScript& script, const EditOptions& options,
                      v1::WorldModel* model) {
  TreeUndo undo(model);
  return ApplyEdits(script, options, model, &undo);
}

EditReport ApplyEdits(const v1::EditScript& script, const EditOptions& options,
                      v1::WorldModel* model, TreeUndo* undo) {
  Editor editor(options, model, undo);
  Describe(script, model);
  editor.Run(script);
  const bool strict = editor.strict();
  EditReport report = editor.Finish();
  report.applied = !strict || report.errors.empty();
  if (!report.applied) {
    undo->Undo();
    report.inserted_ids.clear();
    report.removed_ids.clear();
    if (options.keep_valid) KeepValid(script, options, editor.faulty_ops(), &report, model);
  }
  return report;
}

EditReport ApplyInitialModel(const v1::EditScript& script, const EditOptions& options,
                             v1::WorldModel* model) {
  v1::WorldModel edited = *model;
  EditOptions initial = options;
  if (options.mode == EditMode::kPaper) initial.max_new_nodes = script.ops_size();
  TreeUndo undo(&edited);
  Editor editor(initial, &edited, &undo);
  Describe(script, &edited);

  std::vector<int> orphans;
  std::vector<int> order = InsertionOrder(script, edited, &orphans);
  if (editor.strict()) {
    for (const int i : orphans) {
      editor.set_where(absl::StrCat("nodes[", i, "]"));
      editor.SkipMissing(&editor.report().skipped.missing_parent,
                         script.ops(i).insert().parent_id());
    }
  } else {
    // Covers parent cycles too, which the published system leaves in the tree.
    order.insert(order.end(), orphans.begin(), orphans.end());
  }
  std::map<std::string, std::string> final_ids;
  for (const int i : order) {
    const v1::InsertNode& insert = script.ops(i).insert();
    editor.set_where(absl::StrCat("nodes[", i, "]"));
    if (insert.node_id() == edited.root_id()) {
      // The model describes the root, too, but only the root's notes are used.
      if (insert.node().has_notes()) {
        v1::NodePatch notes;
        notes.set_notes(insert.node().notes());
        ApplyPatch(notes, /*is_root=*/true, FindMutableNode(&edited, edited.root_id()));
      }
      continue;
    }
    if (editor.strict() && final_ids.count(insert.node_id()) > 0 && !insert.node_id().empty()) {
      editor.Skip(&editor.report().skipped.invalid_insert,
                  absl::StrCat("node_id \"", insert.node_id(), "\" is used twice"));
      continue;
    }
    const auto parent = final_ids.find(insert.parent_id());
    if (editor.Add(parent == final_ids.end() ? edited.root_id() : parent->second, "",
                   insert.node_id(), "node_", insert.node())) {
      ++editor.report().inserts;
      final_ids[insert.node_id()] = editor.report().inserted_ids.back();
    }
  }
  const bool strict = editor.strict();
  EditReport report = editor.Finish();
  report.applied = !strict || report.errors.empty();
  if (report.applied) *model = std::move(edited);
  if (!report.applied) report.inserted_ids.clear();
  return report;
}

}  // namespace ksearch

#include "coordinator/proposer/reply/edit_ops.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "coordinator/proposer/reply/edit_fields.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

using namespace edit_fields;  // NOLINT: names of fields and bounds, used throughout
using google::protobuf::Struct;
using google::protobuf::Value;

void ReadImpact(const Struct& impacts, absl::string_view key, const std::string& path,
                FieldReader& reader, v1::Impact* (v1::NodePatch::*mutable_impact)(),
                v1::NodePatch* patch) {
  const Struct* object = reader.FindObject(impacts, key, path);
  if (object == nullptr) return;
  const std::string inner = absl::StrCat(path, key, ".");
  v1::Impact* impact = (patch->*mutable_impact)();
  const std::optional<double> rating = reader.Number(*object, kImpactRating, inner, 0, 10);
  if (rating.has_value()) {
    impact->set_rating(*rating);
  } else if (FieldReader::Find(*object, kImpactRating) == nullptr) {
    reader.MildFault(absl::StrCat(inner, kImpactRating), "is required");
  }
  impact->set_risk(reader.Text(*object, "risk", inner, kMaxShortText).value_or(""));
  impact->set_notes(reader.Text(*object, "notes", inner, kMaxLongText).value_or(""));
  impact->set_hardware_notes(reader.Text(*object, "hw_notes", inner, kMaxLongText).value_or(""));
}

void ReadAction(const Struct& action, const std::string& path, FieldReader& reader,
                v1::NodePatch* patch) {
  if (auto text = reader.Text(action, "title", path, kMaxShortText)) patch->set_title(*text);
  if (auto text = reader.Text(action, "description", path, kMaxLongText)) {
    patch->set_description(*text);
  }
  if (auto text = reader.Text(action, "rationale", path, kMaxLongText)) {
    patch->set_rationale(*text);
  }
  if (auto number = reader.Integer(action, kDifficulty, path, 1, 5)) patch->set_difficulty(*number);
  if (auto number = reader.Number(action, kScore, path, 0, 1)) patch->set_score(*number);
  if (auto number = reader.Number(action, kExpected, path, 0, kMaxExpectedFactor)) {
    patch->set_expected_vs_baseline(*number);
  }
}

void ReadUpdate(const Struct& op, const std::string& path, FieldReader& reader, v1::EditOp* out) {
  v1::UpdateNode* update = out->mutable_update();
  update->set_node_id(reader.RequiredId(op, "node_id", path));
  const Value* patch = FieldReader::Find(op, "patch");
  if (patch == nullptr || !patch->has_struct_value()) {
    reader.MildFault(absl::StrCat(path, "patch"), "must be an object");
    return;
  }
  const v1::NodePatch read = ReadPatch(patch->struct_value(), absl::StrCat(path, "patch."), reader);
  if (read.ByteSizeLong() == 0) {
    reader.MildFault(absl::StrCat(path, "patch"), "has no field that can be changed");
  } else {
    *update->mutable_patch() = read;
  }
}

// The parent of an insert: the op's parent_id, else the node's own. An explicit null or "" is the
// root; a missing parent is a fault. When clamping, only the op's parent_id counts.
std::string ReadParent(const Struct& op, const Struct& node, const std::string& path,
                       FieldReader& reader) {
  std::string parent = reader.OptionalId(op, "parent_id", path);
  if (reader.clamp()) return parent;
  if (parent.empty()) parent = reader.OptionalId(node, "parent_id", absl::StrCat(path, "node."));
  if (!parent.empty()) return parent;
  if (op.fields().count("parent_id") == 0 && node.fields().count("parent_id") == 0) {
    reader.MildFault(absl::StrCat(path, "parent_id"), "is required");
  }
  return kRootId;
}

void ReadInsert(const Struct& op, const std::string& path, FieldReader& reader, v1::EditOp* out) {
  v1::InsertNode* insert = out->mutable_insert();
  const Value* member = FieldReader::Find(op, "node");
  if (member == nullptr || !member->has_struct_value()) {
    reader.MildFault(absl::StrCat(path, "node"), "must be an object");
    insert->set_parent_id(reader.OptionalId(op, "parent_id", path));
    insert->set_parent_candidate_id(reader.OptionalId(op, "parent_solution_id", path));
    return;
  }
  const Struct& node = member->struct_value();
  const std::string node_path = absl::StrCat(path, "node.");
  insert->set_parent_id(ReadParent(op, node, path, reader));
  insert->set_parent_candidate_id(reader.OptionalId(op, "parent_solution_id", path));
  std::string node_id = reader.OptionalId(node, "node_id", node_path);
  if (node_id.empty() && !reader.clamp()) node_id = reader.OptionalId(op, "node_id", path);
  insert->set_node_id(node_id);
  *insert->mutable_node() = node_id == kRootId && !reader.clamp()
                                ? ReadRootNotes(node, node_path, reader)
                                : ReadNewNode(node, node_path, reader);
}

void ReadSplit(const Struct& op, const std::string& path, FieldReader& reader, v1::EditOp* out) {
  v1::SplitNode* split = out->mutable_split();
  split->set_node_id(reader.RequiredId(op, "node_id", path));
  if (const Struct* patch = reader.FindObject(op, "parent_patch", path)) {
    *split->mutable_parent_patch() = ReadPatch(*patch, absl::StrCat(path, "parent_patch."), reader);
  }
  const Value* children = FieldReader::Find(op, "children");
  const int count = children == nullptr ? 0 : children->list_value().values_size();
  if (count == 0) {
    reader.MildFault(absl::StrCat(path, "children"), "must be an array of at least one node");
  } else if (count > kMaxSplitChildren) {
    reader.MildFault(
        absl::StrCat(path, "children"),
        absl::StrCat("has ", count, " nodes; at most ", kMaxSplitChildren, " are allowed"));
  }
  for (int i = 0; i < std::min(count, kMaxSplitChildren); ++i) {
    std::string child_path = absl::StrCat(path, "children[", i, "]");
    const Value& child = children->list_value().values(i);
    v1::InsertNode* insert = split->add_children();
    if (!child.has_struct_value()) {
      reader.MildFault(child_path, "must be an object");
      continue;
    }
    child_path += ".";
    const Struct* node = &child.struct_value();
    // Some models wrap a child as in insert_node.
    if (const Value* inner = FieldReader::Find(*node, "node");
        inner != nullptr && inner->has_struct_value()) {
      node = &inner->struct_value();
      child_path += "node.";
    }
    insert->set_node_id(reader.OptionalId(*node, "node_id", child_path));
    *insert->mutable_node() = ReadNewNode(*node, child_path, reader);
  }
}

}  // namespace

v1::NodePatch ReadPatch(const Struct& node, const std::string& path, FieldReader& reader) {
  v1::NodePatch patch;
  for (absl::string_view key : {"solution_ref", "solution"}) {
    if (FieldReader::Find(node, key) != nullptr) {
      reader.MildFault(absl::StrCat(path, key), "is not writable; leave it out");
    }
  }
  if (auto text = reader.Text(node, "decision", path, kMaxShortText)) patch.set_decision(*text);
  if (auto text = reader.Text(node, "choice", path, kMaxShortText)) patch.set_choice(*text);
  if (auto text = reader.Text(node, "notes", path, kMaxLongText)) patch.set_notes(*text);
  if (auto number = reader.Number(node, kRating, path, 0, 10)) patch.set_overall_rating(*number);
  if (auto number = reader.Number(node, kConfidence, path, 0, 1)) patch.set_confidence(*number);
  if (const Struct* impacts = reader.FindObject(node, "impacts", path)) {
    const std::string inner = absl::StrCat(path, "impacts.");
    ReadImpact(*impacts, kMemoryBandwidth, inner, reader, &v1::NodePatch::mutable_memory_bandwidth,
               &patch);
    ReadImpact(*impacts, kRegisterPressure, inner, reader,
               &v1::NodePatch::mutable_register_pressure, &patch);
    ReadImpact(*impacts, kComputeIntensity, inner, reader,
               &v1::NodePatch::mutable_compute_intensity, &patch);
  }
  if (const Struct* action = reader.FindObject(node, "action", path)) {
    ReadAction(*action, absl::StrCat(path, "action."), reader, &patch);
  }
  return patch;
}

v1::NodePatch ReadNewNode(const Struct& node, const std::string& path, FieldReader& reader) {
  v1::NodePatch patch = ReadPatch(node, path, reader);
  if (patch.title().empty() && patch.decision().empty()) {
    reader.MildFault(absl::StrCat(path, "action.title"),
                     "is required (a node without an action needs a decision)");
  }
  const Value* action = FieldReader::Find(node, "action");
  if (action == nullptr || !action->has_struct_value()) return patch;
  if (!patch.has_score()) {
    if (patch.has_overall_rating()) {
      patch.set_score(patch.overall_rating() / 10);
    } else if (FieldReader::Find(action->struct_value(), kScore) == nullptr) {
      reader.MildFault(absl::StrCat(path, "action.", kScore), "is required");
    }
  }
  if (!patch.has_difficulty()) patch.set_difficulty(3);
  return patch;
}

v1::NodePatch ReadRootNotes(const Struct& node, const std::string& path, FieldReader& reader) {
  const v1::NodePatch patch = ReadPatch(node, path, reader);
  v1::NodePatch notes;
  if (!patch.notes().empty()) notes.set_notes(patch.notes());
  return notes;
}

void ReadOps(const Value& ops, FieldReader& reader, v1::EditScript* script) {
  if (!ops.has_list_value()) {
    reader.Fault("ops", "must be an array");
    return;
  }
  const int count = ops.list_value().values_size();
  if (count > kMaxOps) {
    reader.Fault("ops",
                 absl::StrCat("has ", count, " operations; at most ", kMaxOps, " are allowed"));
    return;
  }
  for (int i = 0; i < count; ++i) {
    const std::string path = absl::StrCat("ops[", i, "]");
    v1::EditOp* out = script->add_ops();
    if (!ops.list_value().values(i).has_struct_value()) {
      reader.MildFault(path, "must be an object");
      continue;
    }
    const Struct& op = ops.list_value().values(i).struct_value();
    const std::string inner = absl::StrCat(path, ".");
    const Value* kind = FieldReader::Find(op, "op");
    const std::string name = kind == nullptr ? "" : kind->string_value();
    if (name == "update_node") {
      ReadUpdate(op, inner, reader, out);
    } else if (name == "insert_node") {
      ReadInsert(op, inner, reader, out);
    } else if (name == "split_node") {
      ReadSplit(op, inner, reader, out);
    } else if (name == "delete_node") {
      out->mutable_remove()->set_node_id(reader.RequiredId(op, "node_id", inner));
      out->mutable_remove()->set_reason(
          reader.Text(op, "reason", inner, kMaxLongText).value_or(""));
    } else {
      reader.MildFault(
          absl::StrCat(inner, "op"),
          absl::StrCat("must be update_node, insert_node, split_node or delete_node, not ",
                       kind == nullptr ? "absent" : FieldReader::Shown(*kind)));
    }
  }
}

}  // namespace ksearch

// RenderEditScript: an edit script as the JSON that ParseEditReply reads.
#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/proposer/reply/edit_fields.h"
#include "coordinator/proposer/reply/json_document.h"
#include "coordinator/proposer/reply_parser.h"
#include "google/protobuf/struct.pb.h"

namespace ksearch {
namespace {

using namespace edit_fields;  // NOLINT: names of fields, used throughout
using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

Value& Member(Struct& object, absl::string_view key) {
  return (*object.mutable_fields())[std::string(key)];
}

void SetText(Struct& object, absl::string_view key, const std::string& text) {
  Member(object, key).set_string_value(text);
}

void SetTextUnlessEmpty(Struct& object, absl::string_view key, const std::string& text) {
  if (!text.empty()) SetText(object, key, text);
}

void SetNumber(Struct& object, absl::string_view key, double number) {
  Member(object, key).set_number_value(number);
}

Struct ImpactJson(const v1::Impact& impact) {
  Struct out;
  SetNumber(out, kImpactRating, impact.rating());
  SetTextUnlessEmpty(out, "risk", impact.risk());
  SetTextUnlessEmpty(out, "notes", impact.notes());
  SetTextUnlessEmpty(out, "hw_notes", impact.hardware_notes());
  return out;
}

Struct ActionJson(const v1::NodePatch& patch) {
  Struct out;
  if (patch.has_title()) SetText(out, "title", patch.title());
  if (patch.has_description()) SetText(out, "description", patch.description());
  if (patch.has_rationale()) SetText(out, "rationale", patch.rationale());
  if (patch.has_difficulty()) SetNumber(out, kDifficulty, patch.difficulty());
  if (patch.has_score()) SetNumber(out, kScore, patch.score());
  if (patch.has_expected_vs_baseline()) SetNumber(out, kExpected, patch.expected_vs_baseline());
  return out;
}

Struct PatchJson(const v1::NodePatch& patch) {
  Struct out;
  if (patch.has_decision()) SetText(out, "decision", patch.decision());
  if (patch.has_choice()) SetText(out, "choice", patch.choice());
  if (patch.has_overall_rating()) SetNumber(out, kRating, patch.overall_rating());
  if (patch.has_confidence()) SetNumber(out, kConfidence, patch.confidence());
  if (patch.has_notes()) SetText(out, "notes", patch.notes());
  Struct impacts;
  const auto add = [&](bool present, absl::string_view key, const v1::Impact& impact) {
    if (present) *Member(impacts, key).mutable_struct_value() = ImpactJson(impact);
  };
  add(patch.has_memory_bandwidth(), kMemoryBandwidth, patch.memory_bandwidth());
  add(patch.has_register_pressure(), kRegisterPressure, patch.register_pressure());
  add(patch.has_compute_intensity(), kComputeIntensity, patch.compute_intensity());
  if (!impacts.fields().empty()) *Member(out, "impacts").mutable_struct_value() = impacts;
  const Struct action = ActionJson(patch);
  if (!action.fields().empty()) *Member(out, "action").mutable_struct_value() = action;
  return out;
}

Struct NodeJson(const v1::InsertNode& insert) {
  Struct node = PatchJson(insert.node());
  SetTextUnlessEmpty(node, "node_id", insert.node_id());
  return node;
}

Struct OpJson(const v1::EditOp& op) {
  Struct out;
  switch (op.op_case()) {
    case v1::EditOp::kUpdate:
      SetText(out, "op", "update_node");
      SetText(out, "node_id", op.update().node_id());
      *Member(out, "patch").mutable_struct_value() = PatchJson(op.update().patch());
      break;
    case v1::EditOp::kInsert:
      SetText(out, "op", "insert_node");
      SetText(out, "parent_id", op.insert().parent_id());
      SetTextUnlessEmpty(out, "parent_solution_id", op.insert().parent_candidate_id());
      if (op.insert().has_node()) {
        *Member(out, "node").mutable_struct_value() = NodeJson(op.insert());
      }
      break;
    case v1::EditOp::kSplit: {
      SetText(out, "op", "split_node");
      SetText(out, "node_id", op.split().node_id());
      if (op.split().has_parent_patch()) {
        *Member(out, "parent_patch").mutable_struct_value() = PatchJson(op.split().parent_patch());
      }
      ListValue* children = Member(out, "children").mutable_list_value();
      for (const v1::InsertNode& child : op.split().children()) {
        Value* value = children->add_values();
        if (child.has_node()) {
          *value->mutable_struct_value() = NodeJson(child);
        } else {
          value->set_null_value(google::protobuf::NULL_VALUE);
        }
      }
      break;
    }
    case v1::EditOp::kRemove:
      SetText(out, "op", "delete_node");
      SetText(out, "node_id", op.remove().node_id());
      SetTextUnlessEmpty(out, "reason", op.remove().reason());
      break;
    case v1::EditOp::OP_NOT_SET:
      break;
  }
  return out;
}

}  // namespace

std::string RenderEditScript(const v1::EditScript& script) {
  Struct out;
  SetTextUnlessEmpty(out, "active_leaf_id", script.active_node_id());
  SetTextUnlessEmpty(out, "kernel_summary", script.kernel_summary());
  for (const std::string& question : script.open_questions()) {
    Member(out, "open_questions").mutable_list_value()->add_values()->set_string_value(question);
  }
  ListValue* ops = Member(out, "ops").mutable_list_value();
  for (const v1::EditOp& op : script.ops()) {
    *ops->add_values()->mutable_struct_value() = OpJson(op);
  }
  return ToPrettyJson(out);
}

}  // namespace ksearch

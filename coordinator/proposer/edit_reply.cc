// ParseEditReply and RenderEditScript. The only place of this folder that includes the JSON
// library, which is slow to compile.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "coordinator/proposer/edit_fields.h"
#include "coordinator/proposer/json_spans.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

using nlohmann::json;
using namespace edit_fields;  // NOLINT: names of fields and bounds, used throughout

// Balanced stretches tried before giving up; bounds the work on hostile text.
constexpr int kMaxParseTries = 16;

bool IsNodeId(absl::string_view id) {
  if (id.empty() || id.size() > kMaxNodeIdBytes) return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  });
}

// Reads typed fields out of JSON and collects every fault with the path of its field.
class FieldReader {
 public:
  explicit FieldReader(const EditReplyOptions& options) : clamp_(options.clamp) {}

  bool clamp() const { return clamp_; }

  void Fault(absl::string_view path, absl::string_view what) {
    ++fault_count_;
    if (fault_count_ <= kMaxFaultsListed) faults_.push_back(absl::StrCat(path, ": ", what));
  }
  // A fault that the published system would have passed over.
  void MildFault(absl::string_view path, absl::string_view what) {
    if (!clamp_) Fault(path, what);
  }

  absl::Status status() const {
    if (fault_count_ == 0) return absl::OkStatus();
    std::string text = absl::StrJoin(faults_, "\n");
    if (fault_count_ > kMaxFaultsListed) {
      // The last line tells of the rest, so that there are never more than the limit.
      text = absl::StrCat(absl::StrJoin(faults_.begin(), faults_.end() - 1, "\n"), "\n... and ",
                          fault_count_ - kMaxFaultsListed + 1, " more");
    }
    return absl::InvalidArgumentError(text);
  }

  // The member, or null if it is absent or JSON null.
  static const json* Find(const json& object, absl::string_view key) {
    const auto it = object.find(std::string(key));
    return it == object.end() || it->is_null() ? nullptr : &*it;
  }

  const json* FindObject(const json& object, absl::string_view key, absl::string_view path) {
    const json* member = Find(object, key);
    if (member != nullptr && !member->is_object()) {
      MildFault(absl::StrCat(path, key), absl::StrCat("must be an object, not ", Kind(*member)));
      return nullptr;
    }
    return member;
  }

  std::optional<std::string> Text(const json& object, absl::string_view key, absl::string_view path,
                                  size_t max_bytes) {
    const json* member = Find(object, key);
    if (member == nullptr) return std::nullopt;
    if (!member->is_string()) {
      MildFault(absl::StrCat(path, key), absl::StrCat("must be a string, not ", Kind(*member)));
      return std::nullopt;
    }
    std::string text = SafeText(member->get_ref<const std::string&>());
    if (text.size() > max_bytes) {
      MildFault(absl::StrCat(path, key),
                absl::StrCat("has ", text.size(), " bytes; at most ", max_bytes, " are allowed"));
      text = Shortened(text, max_bytes, Keep::kHead);
    }
    return text;
  }

  std::optional<double> Number(const json& object, absl::string_view key, absl::string_view path,
                               double low, double high) {
    const json* member = Find(object, key);
    if (member == nullptr) return std::nullopt;
    double value = 0;
    bool usable = member->is_number();
    if (usable) {
      value = member->get<double>();
    } else if (clamp_ && member->is_string()) {
      usable = absl::SimpleAtod(member->get_ref<const std::string&>(), &value);
    }
    usable = usable && std::isfinite(value);
    if (!usable || value < low || value > high) {
      MildFault(absl::StrCat(path, key),
                absl::StrCat("must be a number in [", low, ", ", high, "], not ", Shown(*member)));
      if (!usable) return std::nullopt;
    }
    return std::clamp(value, low, high) + 0.0;  // no negative zero
  }

  std::optional<int> Integer(const json& object, absl::string_view key, absl::string_view path,
                             int low, int high) {
    const std::optional<double> value = Number(object, key, path, low, high);
    if (!value.has_value()) return std::nullopt;
    if (*value != std::floor(*value)) {
      MildFault(absl::StrCat(path, key),
                absl::StrCat("must be a whole number in [", low, ", ", high, "], not ", *value));
    }
    return static_cast<int>(std::lround(*value));
  }

  // An id that must be there and well formed; "" after a fault.
  std::string RequiredId(const json& object, absl::string_view key, absl::string_view path) {
    const json* member = Find(object, key);
    if (member == nullptr) {
      MildFault(absl::StrCat(path, key), "is required");
      return "";
    }
    if (!member->is_string() || !IsNodeId(member->get_ref<const std::string&>())) {
      MildFault(absl::StrCat(path, key), IdRule(*member));
      return "";
    }
    return member->get<std::string>();
  }

  // An id that may be absent. A bad one is a fault, or absent when clamping.
  std::string OptionalId(const json& object, absl::string_view key, absl::string_view path) {
    const json* member = Find(object, key);
    if (member == nullptr) return "";
    if (member->is_string()) {
      const std::string& id = member->get_ref<const std::string&>();
      if (id.empty() || IsNodeId(id)) return id;
    }
    MildFault(absl::StrCat(path, key), IdRule(*member));
    return "";
  }

  static std::string Shown(const json& value) {
    return SafeLine(value.dump(-1, ' ', true, json::error_handler_t::replace), 60);
  }

 private:
  static std::string Kind(const json& value) {
    return absl::StrCat(value.is_array() ? "an " : "a ", value.type_name());
  }
  static std::string IdRule(const json& value) {
    return absl::StrCat("must be 1 to ", kMaxNodeIdBytes, " characters of [A-Za-z0-9_.-], not ",
                        Shown(value));
  }

  const bool clamp_;
  int fault_count_ = 0;
  std::vector<std::string> faults_;
};

// ---------------------------------------------------------------- nodes

void ReadImpact(const json& impacts, absl::string_view key, const std::string& path,
                FieldReader& reader, v1::Impact* (v1::NodePatch::*mutable_impact)(),
                v1::NodePatch* patch) {
  const json* object = reader.FindObject(impacts, key, path);
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

void ReadAction(const json& action, const std::string& path, FieldReader& reader,
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

// Reads the fields an edit may set. `path` ends in '.'.
v1::NodePatch ReadPatch(const json& node, const std::string& path, FieldReader& reader) {
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
  if (const json* impacts = reader.FindObject(node, "impacts", path)) {
    const std::string inner = absl::StrCat(path, "impacts.");
    ReadImpact(*impacts, kMemoryBandwidth, inner, reader, &v1::NodePatch::mutable_memory_bandwidth,
               &patch);
    ReadImpact(*impacts, kRegisterPressure, inner, reader,
               &v1::NodePatch::mutable_register_pressure, &patch);
    ReadImpact(*impacts, kComputeIntensity, inner, reader,
               &v1::NodePatch::mutable_compute_intensity, &patch);
  }
  if (const json* action = reader.FindObject(node, "action", path)) {
    ReadAction(*action, absl::StrCat(path, "action."), reader, &patch);
  }
  return patch;
}

// A whole new node: what a patch may leave out, it must have.
v1::NodePatch ReadNewNode(const json& node, const std::string& path, FieldReader& reader) {
  v1::NodePatch patch = ReadPatch(node, path, reader);
  if (patch.title().empty() && patch.decision().empty()) {
    reader.MildFault(absl::StrCat(path, "action.title"),
                     "is required (a node without an action needs a decision)");
  }
  const json* action = FieldReader::Find(node, "action");
  if (action == nullptr || !action->is_object()) return patch;
  if (!patch.has_score()) {
    if (patch.has_overall_rating()) {
      patch.set_score(patch.overall_rating() / 10);
    } else if (FieldReader::Find(*action, kScore) == nullptr) {
      reader.MildFault(absl::StrCat(path, "action.", kScore), "is required");
    }
  }
  if (!patch.has_difficulty()) patch.set_difficulty(3);
  return patch;
}

// Of the root only the notes can be told.
v1::NodePatch RootNotes(const v1::NodePatch& patch) {
  v1::NodePatch notes;
  if (!patch.notes().empty()) notes.set_notes(patch.notes());
  return notes;
}

bool IsEmptyPatch(const v1::NodePatch& patch) { return patch.ByteSizeLong() == 0; }

// ---------------------------------------------------------------- operations

void ReadUpdate(const json& op, const std::string& path, FieldReader& reader, v1::EditOp* out) {
  v1::UpdateNode* update = out->mutable_update();
  update->set_node_id(reader.RequiredId(op, "node_id", path));
  const json* patch = FieldReader::Find(op, "patch");
  if (patch == nullptr || !patch->is_object()) {
    reader.MildFault(absl::StrCat(path, "patch"), "must be an object");
    return;
  }
  *update->mutable_patch() = ReadPatch(*patch, absl::StrCat(path, "patch."), reader);
  if (IsEmptyPatch(update->patch())) {
    reader.MildFault(absl::StrCat(path, "patch"), "has no field that can be changed");
  }
}

void ReadInsert(const json& op, const std::string& path, FieldReader& reader, v1::EditOp* out) {
  v1::InsertNode* insert = out->mutable_insert();
  const json* node = FieldReader::Find(op, "node");
  if (node == nullptr || !node->is_object()) {
    reader.MildFault(absl::StrCat(path, "node"), "must be an object");
    return;
  }
  const std::string node_path = absl::StrCat(path, "node.");
  std::string parent = reader.OptionalId(op, "parent_id", path);
  if (parent.empty()) parent = reader.OptionalId(*node, "parent_id", node_path);
  // An explicit null means the root; saying nothing does not.
  if (parent.empty() && op.contains("parent_id") && op["parent_id"].is_null()) parent = kRootId;
  if (parent.empty() && reader.clamp()) parent = kRootId;
  if (parent.empty() && !op.contains("parent_id")) {
    reader.MildFault(absl::StrCat(path, "parent_id"), "is required");
  } else if (parent.empty() && op["parent_id"].is_string()) {
    parent = kRootId;
  }
  insert->set_parent_id(parent);
  insert->set_parent_candidate_id(reader.OptionalId(op, "parent_solution_id", path));
  std::string node_id = reader.OptionalId(*node, "node_id", node_path);
  if (node_id.empty()) node_id = reader.OptionalId(op, "node_id", path);
  insert->set_node_id(node_id);
  *insert->mutable_node() = node_id == kRootId ? RootNotes(ReadPatch(*node, node_path, reader))
                                               : ReadNewNode(*node, node_path, reader);
}

void ReadSplit(const json& op, const std::string& path, FieldReader& reader, v1::EditOp* out) {
  v1::SplitNode* split = out->mutable_split();
  split->set_node_id(reader.RequiredId(op, "node_id", path));
  if (const json* patch = reader.FindObject(op, "parent_patch", path)) {
    *split->mutable_parent_patch() = ReadPatch(*patch, absl::StrCat(path, "parent_patch."), reader);
  }
  const json* children = FieldReader::Find(op, "children");
  if (children == nullptr || !children->is_array() || children->empty()) {
    reader.MildFault(absl::StrCat(path, "children"), "must be an array of at least one node");
    return;
  }
  if (children->size() > static_cast<size_t>(kMaxSplitChildren)) {
    reader.MildFault(absl::StrCat(path, "children"),
                     absl::StrCat("has ", children->size(), " nodes; at most ", kMaxSplitChildren,
                                  " are allowed"));
  }
  const size_t count = std::min<size_t>(children->size(), kMaxSplitChildren);
  for (size_t i = 0; i < count; ++i) {
    std::string child_path = absl::StrCat(path, "children[", i, "]");
    const json* child = &(*children)[i];
    if (!child->is_object()) {
      reader.MildFault(child_path, "must be an object");
      continue;
    }
    child_path += ".";
    // Some models wrap a child as in insert_node.
    if (const json* inner = FieldReader::Find(*child, "node"); inner && inner->is_object()) {
      child = inner;
      child_path += "node.";
    }
    v1::InsertNode* insert = split->add_children();
    insert->set_node_id(reader.OptionalId(*child, "node_id", child_path));
    *insert->mutable_node() = ReadNewNode(*child, child_path, reader);
  }
}

void ReadOps(const json& ops, FieldReader& reader, v1::EditScript* script) {
  if (!ops.is_array()) {
    reader.Fault("ops", "must be an array");
    return;
  }
  if (ops.size() > static_cast<size_t>(kMaxOps)) {
    reader.MildFault(
        "ops", absl::StrCat("has ", ops.size(), " operations; at most ", kMaxOps, " are allowed"));
    return;
  }
  for (size_t i = 0; i < ops.size(); ++i) {
    const json& op = ops[i];
    const std::string path = absl::StrCat("ops[", i, "]");
    if (!op.is_object()) {
      reader.MildFault(path, "must be an object");
      continue;
    }
    const std::string inner = absl::StrCat(path, ".");
    const json* kind_value = FieldReader::Find(op, "op");
    const std::string kind = kind_value != nullptr && kind_value->is_string()
                                 ? kind_value->get<std::string>()
                                 : std::string();
    v1::EditOp* out = script->add_ops();
    if (kind == "update_node") {
      ReadUpdate(op, inner, reader, out);
    } else if (kind == "insert_node") {
      ReadInsert(op, inner, reader, out);
    } else if (kind == "split_node") {
      ReadSplit(op, inner, reader, out);
    } else if (kind == "delete_node") {
      out->mutable_remove()->set_node_id(reader.RequiredId(op, "node_id", inner));
      out->mutable_remove()->set_reason(
          reader.Text(op, "reason", inner, kMaxLongText).value_or(""));
    } else {
      reader.MildFault(
          absl::StrCat(inner, "op"),
          absl::StrCat("must be update_node, insert_node, split_node or delete_node, not ",
                       kind_value == nullptr ? "absent" : FieldReader::Shown(*kind_value)));
    }
  }
}

// ---------------------------------------------------------------- initial model

struct TreeNode {
  v1::InsertNode insert;
  std::string path;
};

// Parents before children, otherwise in the order given. What hangs on a loop or on nothing is a
// fault; when clamping it is hung on the root.
void AppendParentsFirst(std::vector<TreeNode> nodes, FieldReader& reader, v1::EditScript* script) {
  absl::flat_hash_set<std::string> ids = {std::string(kRootId)};
  for (const TreeNode& node : nodes) ids.insert(node.insert.node_id());
  for (TreeNode& node : nodes) {
    if (ids.contains(node.insert.parent_id())) continue;
    reader.MildFault(absl::StrCat(node.path, ".parent_id"),
                     absl::StrCat("no node '", node.insert.parent_id(), "' in this reply"));
    node.insert.set_parent_id(std::string(kRootId));
  }
  absl::flat_hash_set<std::string> placed = {std::string(kRootId)};
  std::vector<bool> done(nodes.size(), false);
  bool progress = true;
  while (progress) {
    progress = false;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (done[i] || !placed.contains(nodes[i].insert.parent_id())) continue;
      *script->add_ops()->mutable_insert() = nodes[i].insert;
      placed.insert(nodes[i].insert.node_id());
      done[i] = progress = true;
    }
    if (progress) continue;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (done[i]) continue;
      reader.MildFault(absl::StrCat(nodes[i].path, ".parent_id"), "its ancestors form a loop");
      if (!reader.clamp()) continue;
      nodes[i].insert.set_parent_id(std::string(kRootId));
      progress = true;
      break;
    }
  }
}

void ReadTree(const json& nodes, const std::string& root_id, const std::string& path,
              FieldReader& reader, v1::EditScript* script) {
  if (!nodes.is_array()) {
    reader.Fault(path, "must be an array");
    return;
  }
  if (nodes.size() > static_cast<size_t>(kMaxOps)) {
    reader.Fault(path,
                 absl::StrCat("has ", nodes.size(), " nodes; at most ", kMaxOps, " are allowed"));
    return;
  }
  std::vector<TreeNode> tree;
  absl::flat_hash_map<std::string, size_t> index;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const json& node = nodes[i];
    const std::string node_path = absl::StrCat(path, "[", i, "]");
    if (!node.is_object()) {
      reader.Fault(node_path, "must be an object");
      continue;
    }
    const std::string inner = absl::StrCat(node_path, ".");
    const std::string id = reader.OptionalId(node, "node_id", inner);
    if (id == root_id || id == kRootId) {
      const v1::NodePatch notes = RootNotes(ReadPatch(node, inner, reader));
      if (!notes.has_notes()) continue;
      v1::InsertNode* insert = script->add_ops()->mutable_insert();
      insert->set_parent_id(kRootId);
      insert->set_node_id(kRootId);
      *insert->mutable_node() = notes;
      continue;
    }
    TreeNode entry;
    entry.path = node_path;
    entry.insert.set_node_id(id);
    std::string parent = reader.OptionalId(node, "parent_id", inner);
    if (parent.empty() || parent == root_id) parent = std::string(kRootId);
    entry.insert.set_parent_id(parent);
    *entry.insert.mutable_node() = ReadNewNode(node, inner, reader);
    const auto [known, fresh] = index.try_emplace(id, tree.size());
    if (id.empty() || fresh) {
      tree.push_back(std::move(entry));
    } else {
      reader.MildFault(absl::StrCat(inner, "node_id"), absl::StrCat("'", id, "' is used twice"));
      tree[known->second] = std::move(entry);
    }
  }
  AppendParentsFirst(std::move(tree), reader, script);
}

void ReadSummary(const json& object, FieldReader& reader, v1::EditScript* script) {
  script->set_kernel_summary(reader.Text(object, "kernel_summary", "", kMaxLongText).value_or(""));
  const json* questions = FieldReader::Find(object, "open_questions");
  if (questions == nullptr) return;
  if (!questions->is_array()) {
    reader.MildFault("open_questions", "must be an array of strings");
    return;
  }
  if (questions->size() > static_cast<size_t>(kMaxQuestions)) {
    reader.MildFault("open_questions", absl::StrCat("has ", questions->size(), " entries; at most ",
                                                    kMaxQuestions, " are allowed"));
  }
  const size_t count = std::min<size_t>(questions->size(), kMaxQuestions);
  for (size_t i = 0; i < count; ++i) {
    const json& question = (*questions)[i];
    const std::string path = absl::StrCat("open_questions[", i, "]");
    if (!question.is_string()) {
      reader.MildFault(path, "must be a string");
      continue;
    }
    // Read as a member so that one set of rules holds for all text.
    const auto text =
        reader.Text(json{{"q", question}}, "q", absl::StrCat(path, "."), kMaxLongText);
    if (text.has_value() && !text->empty()) script->add_open_questions(*text);
  }
}

absl::StatusOr<v1::EditScript> ReadScript(const json& object, const EditReplyOptions& options) {
  FieldReader reader(options);
  v1::EditScript script;
  std::string active = reader.OptionalId(object, "active_leaf_id", "");
  if (active.empty()) active = reader.OptionalId(object, "active_node_id", "");
  ReadSummary(object, reader, &script);
  if (const json* nodes = FieldReader::Find(object, "nodes")) {
    ReadTree(*nodes, std::string(kRootId), "nodes", reader, &script);
  } else if (const json* tree = reader.FindObject(object, "decision_tree", "")) {
    std::string root_id = reader.OptionalId(*tree, "root_id", "decision_tree.");
    if (root_id.empty()) root_id = std::string(kRootId);
    if (active.empty()) active = reader.OptionalId(*tree, "active_leaf_id", "decision_tree.");
    if (active == root_id) active = std::string(kRootId);
    if (const json* inner = FieldReader::Find(*tree, "nodes")) {
      ReadTree(*inner, root_id, "decision_tree.nodes", reader, &script);
    } else {
      reader.MildFault("decision_tree.nodes", "is required");
    }
  }
  script.set_active_node_id(active);
  if (const json* ops = FieldReader::Find(object, "ops")) ReadOps(*ops, reader, &script);
  RETURN_IF_ERROR(reader.status());
  return script;
}

// ---------------------------------------------------------------- finding the object

constexpr absl::string_view kExpectedKeys[] = {"ops", "nodes", "decision_tree", "kernel_summary"};

bool HasExpectedKey(const json& object) {
  return std::any_of(std::begin(kExpectedKeys), std::end(kExpectedKeys),
                     [&](absl::string_view key) { return object.contains(std::string(key)); });
}

// Positions where one of the keys stands in quotes, ascending.
std::vector<size_t> KeyPositions(absl::string_view text) {
  std::vector<size_t> positions;
  for (absl::string_view key : kExpectedKeys) {
    const std::string quoted = absl::StrCat("\"", key, "\"");
    for (size_t at = text.find(quoted); at != absl::string_view::npos;
         at = text.find(quoted, at + 1)) {
      positions.push_back(at);
    }
  }
  std::sort(positions.begin(), positions.end());
  return positions;
}

absl::StatusOr<json> ParseJson(absl::string_view text) {
  if (JsonDepth(text) > kMaxJsonDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("the JSON object nests deeper than ", kMaxJsonDepth, " levels"));
  }
  try {
    return json::parse(text.begin(), text.end());
  } catch (const json::exception& error) {
    const absl::string_view what = error.what();
    const size_t tag = what.find("] ");
    return absl::InvalidArgumentError(
        absl::StrCat("the JSON object is malformed: ",
                     SafeLine(tag == absl::string_view::npos ? what : what.substr(tag + 2), 300)));
  }
}

absl::StatusOr<json> FindObject(absl::string_view text) {
  const JsonSpans found = FindJsonSpans(text);
  const std::vector<size_t> keys = KeyPositions(text);
  absl::Status first_fault;
  int tries = 0;
  for (const JsonSpan& span : found.spans) {
    const auto key = std::lower_bound(keys.begin(), keys.end(), span.begin);
    if (key == keys.end() || *key >= span.end) continue;
    if (++tries > kMaxParseTries) break;
    absl::StatusOr<json> object = ParseJson(text.substr(span.begin, span.end - span.begin));
    if (object.ok() && HasExpectedKey(*object)) return object;
    if (!object.ok() && first_fault.ok()) first_fault = object.status();
  }
  RETURN_IF_ERROR(first_fault);
  if (found.first_unclosed != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        "the JSON object is never closed: the reply seems to be cut off; send a shorter, complete "
        "one");
  }
  if (found.spans.empty()) {
    return absl::InvalidArgumentError(
        "the reply holds no JSON object; answer with one JSON object and nothing else");
  }
  return absl::InvalidArgumentError(
      "no JSON object of the reply has the key \"ops\" (or \"decision_tree\", for an initial "
      "model)");
}

// ---------------------------------------------------------------- writing

json ImpactJson(const v1::Impact& impact) {
  json out = {{std::string(kImpactRating), impact.rating()}};
  if (!impact.risk().empty()) out["risk"] = impact.risk();
  if (!impact.notes().empty()) out["notes"] = impact.notes();
  if (!impact.hardware_notes().empty()) out["hw_notes"] = impact.hardware_notes();
  return out;
}

json PatchJson(const v1::NodePatch& patch) {
  json out = json::object();
  if (patch.has_decision()) out["decision"] = patch.decision();
  if (patch.has_choice()) out["choice"] = patch.choice();
  if (patch.has_overall_rating()) out[std::string(kRating)] = patch.overall_rating();
  if (patch.has_confidence()) out[std::string(kConfidence)] = patch.confidence();
  if (patch.has_notes()) out["notes"] = patch.notes();
  json impacts = json::object();
  if (patch.has_memory_bandwidth()) {
    impacts[std::string(kMemoryBandwidth)] = ImpactJson(patch.memory_bandwidth());
  }
  if (patch.has_register_pressure()) {
    impacts[std::string(kRegisterPressure)] = ImpactJson(patch.register_pressure());
  }
  if (patch.has_compute_intensity()) {
    impacts[std::string(kComputeIntensity)] = ImpactJson(patch.compute_intensity());
  }
  if (!impacts.empty()) out["impacts"] = std::move(impacts);
  json action = json::object();
  if (patch.has_title()) action["title"] = patch.title();
  if (patch.has_description()) action["description"] = patch.description();
  if (patch.has_rationale()) action["rationale"] = patch.rationale();
  if (patch.has_difficulty()) action[std::string(kDifficulty)] = patch.difficulty();
  if (patch.has_score()) action[std::string(kScore)] = patch.score();
  if (patch.has_expected_vs_baseline()) {
    action[std::string(kExpected)] = patch.expected_vs_baseline();
  }
  if (!action.empty()) out["action"] = std::move(action);
  return out;
}

json NodeJson(const v1::InsertNode& insert) {
  json node = PatchJson(insert.node());
  if (!insert.node_id().empty()) node["node_id"] = insert.node_id();
  return node;
}

json OpJson(const v1::EditOp& op) {
  switch (op.op_case()) {
    case v1::EditOp::kUpdate:
      return {{"op", "update_node"},
              {"node_id", op.update().node_id()},
              {"patch", PatchJson(op.update().patch())}};
    case v1::EditOp::kInsert: {
      json out = {{"op", "insert_node"},
                  {"parent_id", op.insert().parent_id()},
                  {"node", NodeJson(op.insert())}};
      if (!op.insert().parent_candidate_id().empty()) {
        out["parent_solution_id"] = op.insert().parent_candidate_id();
      }
      return out;
    }
    case v1::EditOp::kSplit: {
      json out = {{"op", "split_node"}, {"node_id", op.split().node_id()}};
      if (op.split().has_parent_patch()) out["parent_patch"] = PatchJson(op.split().parent_patch());
      out["children"] = json::array();
      for (const v1::InsertNode& child : op.split().children()) {
        out["children"].push_back(NodeJson(child));
      }
      return out;
    }
    case v1::EditOp::kRemove: {
      json out = {{"op", "delete_node"}, {"node_id", op.remove().node_id()}};
      if (!op.remove().reason().empty()) out["reason"] = op.remove().reason();
      return out;
    }
    case v1::EditOp::OP_NOT_SET:
      break;
  }
  return json::object();
}

}  // namespace

absl::StatusOr<v1::EditScript> ParseEditReply(absl::string_view reply,
                                              const EditReplyOptions& options) {
  if (static_cast<int64_t>(reply.size()) > kMaxReplyBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the reply has ", reply.size(), " bytes; at most ", kMaxReplyBytes, " are read"));
  }
  ASSIGN_OR_RETURN(const json object, FindObject(reply));
  return ReadScript(object, options);
}

std::string RenderEditScript(const v1::EditScript& script) {
  json out = json::object();
  if (!script.active_node_id().empty()) out["active_leaf_id"] = script.active_node_id();
  if (!script.kernel_summary().empty()) out["kernel_summary"] = script.kernel_summary();
  if (script.open_questions_size() > 0) {
    out["open_questions"] = json::array();
    for (const std::string& question : script.open_questions()) {
      out["open_questions"].push_back(question);
    }
  }
  out["ops"] = json::array();
  for (const v1::EditOp& op : script.ops()) out["ops"].push_back(OpJson(op));
  return out.dump(2, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

}  // namespace ksearch

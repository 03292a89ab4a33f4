// ParseEditReply: from a model's text to an edit script.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/proposer/reply/edit_fields.h"
#include "coordinator/proposer/reply/edit_ops.h"
#include "coordinator/proposer/reply/field_reader.h"
#include "coordinator/proposer/reply/json_document.h"
#include "coordinator/proposer/reply/json_spans.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

using namespace edit_fields;  // NOLINT: names of fields and bounds, used throughout
using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

// Balanced stretches tried before giving up; bounds the work on hostile text.
constexpr int kMaxParseTries = 16;

// ---------------------------------------------------------------- initial model

struct TreeNode {
  v1::InsertNode insert;
  std::string path;
};

// Parents before children, otherwise in the given order. A node on a cycle or without a parent is a
// fault; when clamping it becomes a child of the root.
void AppendParentsFirst(std::vector<TreeNode> nodes, FieldReader& reader, v1::EditScript* script) {
  absl::flat_hash_set<std::string> ids = {kRootId};
  for (const TreeNode& node : nodes) ids.insert(node.insert.node_id());
  for (TreeNode& node : nodes) {
    if (ids.contains(node.insert.parent_id())) continue;
    reader.MildFault(
        absl::StrCat(node.path, ".parent_id"),
        absl::StrCat("there is no node \"", node.insert.parent_id(), "\" in this reply"));
    node.insert.set_parent_id(kRootId);
  }
  absl::flat_hash_set<std::string> placed = {kRootId};
  std::vector<bool> done(nodes.size(), false);
  bool progress = true;
  while (progress) {
    progress = false;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (done[i] || !placed.contains(nodes[i].insert.parent_id())) continue;
      placed.insert(nodes[i].insert.node_id());
      *script->add_ops()->mutable_insert() = std::move(nodes[i].insert);
      done[i] = progress = true;
    }
    if (progress) continue;
    // The remaining nodes are on a cycle, or below one. Cutting it at one node frees the rest.
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (done[i]) continue;
      reader.MildFault(absl::StrCat(nodes[i].path, ".parent_id"), "its ancestors form a loop");
      if (!reader.clamp()) continue;
      nodes[i].insert.set_parent_id(kRootId);
      progress = true;
      break;
    }
  }
}

void ReadTree(const Value& value, const std::string& root_id, const std::string& path,
              FieldReader& reader, v1::EditScript* script) {
  if (!value.has_list_value()) {
    reader.Fault(path, "must be an array");
    return;
  }
  const ListValue& nodes = value.list_value();
  if (nodes.values_size() > kMaxOps) {
    reader.Fault(path, absl::StrCat("has ", nodes.values_size(), " nodes; at most ", kMaxOps,
                                    " are allowed"));
    return;
  }
  std::vector<TreeNode> tree;
  absl::flat_hash_map<std::string, size_t> index;
  for (int i = 0; i < nodes.values_size(); ++i) {
    TreeNode entry;
    entry.path = absl::StrCat(path, "[", i, "]");
    if (!nodes.values(i).has_struct_value()) {
      reader.MildFault(entry.path, "must be an object");
      continue;
    }
    const Struct& node = nodes.values(i).struct_value();
    const std::string inner = absl::StrCat(entry.path, ".");
    const std::string id = reader.OptionalId(node, "node_id", inner);
    if (id == root_id || id == kRootId) {
      const v1::NodePatch notes = ReadRootNotes(node, inner, reader);
      if (!notes.has_notes()) continue;
      v1::InsertNode* insert = script->add_ops()->mutable_insert();
      insert->set_parent_id(kRootId);
      insert->set_node_id(kRootId);
      *insert->mutable_node() = notes;
      continue;
    }
    entry.insert.set_node_id(id);
    const std::string parent = reader.OptionalId(node, "parent_id", inner);
    entry.insert.set_parent_id(parent.empty() || parent == root_id ? kRootId : parent);
    *entry.insert.mutable_node() = ReadNewNode(node, inner, reader);
    if (id.empty()) {
      tree.push_back(std::move(entry));
      continue;
    }
    const auto [known, fresh] = index.try_emplace(id, tree.size());
    if (fresh) {
      tree.push_back(std::move(entry));
    } else {
      reader.MildFault(absl::StrCat(inner, "node_id"), absl::StrCat("\"", id, "\" is used twice"));
      tree[known->second] = std::move(entry);
    }
  }
  AppendParentsFirst(std::move(tree), reader, script);
}

// ---------------------------------------------------------------- the whole script

void ReadSummary(const Struct& object, FieldReader& reader, v1::EditScript* script) {
  script->set_kernel_summary(reader.Text(object, "kernel_summary", "", kMaxLongText).value_or(""));
  const Value* questions = FieldReader::Find(object, "open_questions");
  if (questions == nullptr) return;
  if (!questions->has_list_value()) {
    reader.MildFault("open_questions", "must be an array of strings");
    return;
  }
  const ListValue& list = questions->list_value();
  if (list.values_size() > kMaxQuestions) {
    reader.MildFault("open_questions",
                     absl::StrCat("has ", list.values_size(), " entries; at most ", kMaxQuestions,
                                  " are allowed"));
  }
  for (int i = 0; i < std::min(list.values_size(), kMaxQuestions); ++i) {
    const auto text =
        reader.TextOf(list.values(i), absl::StrCat("open_questions[", i, "]"), kMaxLongText);
    if (text.has_value() && !text->empty()) script->add_open_questions(*text);
  }
}

absl::StatusOr<v1::EditScript> ReadScript(const Struct& object, const EditReplyOptions& options) {
  FieldReader reader(options.clamp);
  v1::EditScript script;
  std::string active = reader.OptionalId(object, "active_leaf_id", "");
  if (active.empty()) active = reader.OptionalId(object, "active_node_id", "");
  ReadSummary(object, reader, &script);
  if (const Value* nodes = FieldReader::Find(object, "nodes")) {
    ReadTree(*nodes, kRootId, "nodes", reader, &script);
  } else if (const Struct* tree = reader.FindObject(object, "decision_tree", "")) {
    std::string root_id = reader.OptionalId(*tree, "root_id", "decision_tree.");
    if (root_id.empty()) root_id = kRootId;
    if (active.empty()) active = reader.OptionalId(*tree, "active_leaf_id", "decision_tree.");
    if (active == root_id) active = kRootId;
    if (const Value* inner = FieldReader::Find(*tree, "nodes")) {
      ReadTree(*inner, root_id, "decision_tree.nodes", reader, &script);
    } else {
      reader.MildFault("decision_tree.nodes", "is required");
    }
  }
  script.set_active_node_id(active);
  if (const Value* ops = FieldReader::Find(object, "ops")) ReadOps(*ops, reader, &script);
  RETURN_IF_ERROR(reader.status());
  return script;
}

// ---------------------------------------------------------------- finding the object

constexpr absl::string_view kExpectedKeys[] = {"ops", "nodes", "decision_tree", "kernel_summary"};

bool HasExpectedKey(const Struct& object) {
  return std::any_of(
      std::begin(kExpectedKeys), std::end(kExpectedKeys),
      [&](absl::string_view key) { return object.fields().count(std::string(key)) > 0; });
}

// Positions of the quoted keys, ascending.
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

absl::StatusOr<Struct> FindScriptObject(absl::string_view text) {
  const JsonSpans found = FindJsonSpans(text);
  const std::vector<size_t> keys = KeyPositions(text);
  absl::Status first_fault;
  int tries = 0;
  // From the last to the first, outer before inner: of several objects the last one counts, and
  // one within a malformed or foreign one is still found.
  for (const JsonSpan& span : found.spans) {
    const auto key = std::lower_bound(keys.begin(), keys.end(), span.begin);
    if (key == keys.end() || *key >= span.end) continue;
    if (++tries > kMaxParseTries) break;
    absl::StatusOr<Struct> object =
        ParseJsonObject(text.substr(span.begin, span.end - span.begin), kMaxJsonDepth);
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

}  // namespace

absl::StatusOr<v1::EditScript> ParseEditReply(absl::string_view reply,
                                              const EditReplyOptions& options) {
  if (static_cast<int64_t>(reply.size()) > kMaxReplyBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the reply has ", reply.size(), " bytes; at most ", kMaxReplyBytes, " are read"));
  }
  ASSIGN_OR_RETURN(const Struct object, FindScriptObject(reply));
  return ReadScript(object, options);
}

}  // namespace ksearch

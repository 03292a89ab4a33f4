#include "coordinator/world_model/digest.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "coordinator/world_model/selection.h"
#include "coordinator/world_model/text.h"
#include "coordinator/world_model/tree_index.h"
#include "coordinator/world_model/tree_outline.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

constexpr size_t kMaxDetail = 600;
constexpr size_t kMaxFrontierNotes = 140;  // published: 140
constexpr int kPaperFrontierLines = 10;
constexpr int kMaxUnexploredRootActions = 4;

// ---------------------------------------------------------------- the published projection

std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '\r':
        quoted += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          absl::StrAppendFormat(&quoted, "\\u%04x", c);
        } else {
          quoted.push_back(c);
        }
    }
  }
  return quoted + "\"";
}

std::string QuotedOrNull(absl::string_view text) { return text.empty() ? "null" : Quoted(text); }

std::string ProjectedNode(const v1::WorldModel& model, const v1::Node& node) {
  constexpr char kIndent[] = "        ";
  std::vector<std::string> fields;
  if (node.has_action()) {
    std::string action =
        absl::StrCat("\"action\": {\"difficulty_1_to_5\": ", node.action().difficulty());
    if (node.action().has_expected_vs_baseline()) {
      absl::StrAppend(&action,
                      ", \"expected_vs_baseline_factor\": ", node.action().expected_vs_baseline());
    }
    absl::StrAppend(&action, ", \"score_0_to_1\": ", node.action().score(),
                    ", \"title\": ", Quoted(node.action().title()), "}");
    fields.push_back(action);
  }
  fields.push_back(absl::StrCat("\"choice\": ", QuotedOrNull(node.choice())));
  fields.push_back(absl::StrCat("\"confidence_0_to_1\": ", node.confidence()));
  fields.push_back(absl::StrCat("\"decision\": ", QuotedOrNull(node.decision())));
  fields.push_back(absl::StrCat("\"node_id\": ", Quoted(node.node_id())));
  fields.push_back(
      absl::StrCat("\"node_type\": ", IsRoot(model, node) ? "\"root\"" : "\"decision\""));
  fields.push_back(absl::StrCat("\"overall_rating_0_to_10\": ", node.overall_rating()));
  fields.push_back(absl::StrCat("\"parent_id\": ", QuotedOrNull(node.parent_id())));
  if (IsSolved(node)) {
    fields.push_back(
        absl::StrCat("\"solution_ref\": {\"eval\": {\"score\": ", node.solution().score(),
                     ", \"score_name\": \"mean_vs_baseline\", \"status\": \"passed\"}, "
                     "\"parent_solution_id\": ",
                     QuotedOrNull(node.solution().parent_candidate_id()),
                     ", \"solution_id\": ", Quoted(node.solution().candidate_id()), "}"));
  }
  return absl::StrCat("      {\n", kIndent, absl::StrJoin(fields, absl::StrCat(",\n", kIndent)),
                      "\n      }");
}

std::string PaperProjection(const v1::WorldModel& model, const std::string& active) {
  constexpr int kSiblings = 2;
  constexpr int kQuestions = 6;
  std::vector<const v1::Node*> shown = PathFromRoot(model, active);
  std::vector<const v1::Node*> siblings;
  if (!shown.empty() && !IsRoot(model, *shown.back())) {
    siblings = ChildrenOf(model, shown.back()->parent_id());
  }
  siblings.erase(std::remove_if(siblings.begin(), siblings.end(),
                                [&](const v1::Node* node) { return node->node_id() == active; }),
                 siblings.end());
  std::stable_sort(siblings.begin(), siblings.end(), [](const v1::Node* a, const v1::Node* b) {
    return a->overall_rating() > b->overall_rating();
  });
  if (siblings.size() > kSiblings) siblings.resize(kSiblings);
  shown.insert(shown.end(), siblings.begin(), siblings.end());
  std::vector<std::string> nodes;
  for (const v1::Node* node : shown) nodes.push_back(ProjectedNode(model, *node));
  std::vector<std::string> questions;
  for (const std::string& question : model.open_questions()) {
    if (!question.empty() && questions.size() < kQuestions) questions.push_back(Quoted(question));
  }
  return absl::StrCat("{\n  \"decision_tree\": {\n    \"active_leaf_id\": ", Quoted(active),
                      ",\n    \"nodes\": [\n", absl::StrJoin(nodes, ",\n"),
                      "\n    ],\n    \"root_id\": ", Quoted(model.root_id()),
                      "\n  },\n  \"kernel_summary\": ", Quoted(model.kernel_summary()),
                      ",\n  \"open_questions\": [", absl::StrJoin(questions, ", "), "]\n}");
}

std::string FrontierLine(const TreeIndex& index, const v1::Node& node, bool paper) {
  const int above = index.Find(node.parent_id());
  const v1::Node* parent = above == TreeIndex::kNone ? nullptr : &index.node(above);
  std::string line = absl::StrCat("- ", node.node_id(), " (parent ", node.parent_id());
  if (parent != nullptr && IsSolved(*parent)) {
    const std::string& id = parent->solution().candidate_id();
    absl::StrAppend(&line, ", parent_solution_id ", paper ? id : id.substr(0, 12));
    absl::StrAppendFormat(&line, ", parent score %.3f", parent->solution().score());
  }
  absl::StrAppend(&line, ", difficulty ", node.action().difficulty());
  if (!paper) absl::StrAppendFormat(&line, ", score %.2f", node.action().score());
  absl::StrAppend(&line, "): ");
  if (!paper) absl::StrAppend(&line, OneLine(node.action().title(), kMaxShownTitle), "; ");
  absl::StrAppend(&line, OneLine(node.decision(), kMaxShownTitle), " -> ",
                  OneLine(node.choice(), kMaxShownTitle));
  if (!node.notes().empty()) {
    absl::StrAppend(&line, "; ", OneLine(node.notes(), kMaxFrontierNotes));
  }
  return line;
}

// Whole lines only, of `count` that `line` writes; says how many are missing. Those beyond the
// first without room are not written.
std::string JoinWithin(int count, const std::function<std::string(int)>& line, size_t max_bytes) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const std::string next = line(i);
    const std::string more = absl::StrCat("(", count - i, " more)\n");
    const bool last = i + 1 == count;
    if (text.size() + next.size() + 1 + (last ? 0 : more.size()) > max_bytes) {
      return CutText(text + more, max_bytes);
    }
    absl::StrAppend(&text, next, "\n");
  }
  return text;
}

std::string TombstoneLine(const v1::Tombstone& tombstone) {
  std::string line =
      absl::StrCat("- ", tombstone.node_id(), " (under ", tombstone.parent_id(), ", round ",
                   tombstone.round(), "): ", OneLine(tombstone.title(), kMaxShownTitle));
  if (!tombstone.choice().empty()) {
    absl::StrAppend(&line, " (", OneLine(tombstone.decision(), kMaxShownTitle), " -> ",
                    OneLine(tombstone.choice(), kMaxShownTitle), ")");
  }
  if (!tombstone.reason().empty()) {
    absl::StrAppend(&line, ": ", OneLine(tombstone.reason(), kMaxShownTitle));
  }
  return line;
}

}  // namespace

std::string TreeDigest(const v1::WorldModel& model, const TreeDigestOptions& options) {
  const std::string& active =
      options.active_node_id.empty() ? model.active_node_id() : options.active_node_id;
  if (options.paper) return CutMiddle(PaperProjection(model, active), options.max_bytes);
  std::string head;
  if (!model.kernel_summary().empty()) {
    absl::StrAppend(&head, "Summary: ", CutText(model.kernel_summary(), options.max_bytes / 8),
                    "\n");
  }
  if (model.open_questions_size() > 0) {
    const auto question = [&](int i) {
      return absl::StrCat("? ", OneLine(model.open_questions(i), kMaxDetail));
    };
    absl::StrAppend(&head, "Open questions:\n",
                    JoinWithin(model.open_questions_size(), question, options.max_bytes / 8));
  }
  std::string tail = TombstoneDigest(model, options.max_bytes / 8);
  if (!tail.empty()) tail = absl::StrCat("Pruned, not to be proposed again:\n", tail);
  const size_t fixed = head.size() + tail.size() + 8;
  const size_t room = options.max_bytes > fixed ? options.max_bytes - fixed : 0;
  return CutText(absl::StrCat(head, "Tree:\n", TreeOutline(model, active, room), tail),
                 options.max_bytes);
}

std::string FrontierDigest(const v1::WorldModel& model, const FrontierDigestOptions& options) {
  const TreeIndex index(model);
  std::vector<const v1::Node*> nodes;
  if (options.paper) {
    std::vector<int> places = FrontierPlaces(index);
    std::stable_sort(places.begin(), places.end(),
                     [&](int a, int b) { return index.DepthOf(a) < index.DepthOf(b); });
    if (places.size() > kPaperFrontierLines) places.resize(kPaperFrontierLines);
    for (const int place : places) nodes.push_back(&index.node(place));
  } else {
    SelectionOptions selection;
    selection.max_difficulty = 5;
    nodes = RankFrontier(index, selection, options.in_flight);
  }
  if (nodes.empty()) return "(none)\n";
  const auto line = [&](int i) {
    return FrontierLine(index, *nodes[static_cast<size_t>(i)], options.paper);
  };
  const auto count = static_cast<int>(nodes.size());
  if (!options.paper) return JoinWithin(count, line, options.max_bytes);
  std::string text;
  for (int i = 0; i < count; ++i) absl::StrAppend(&text, line(i), "\n");
  return CutMiddle(text, options.max_bytes);
}

std::string PathDigest(const v1::WorldModel& model, absl::string_view node_id, size_t max_bytes) {
  std::string text;
  for (const v1::Node* node : PathFromRoot(model, node_id)) {
    absl::StrAppend(&text, node->node_id());
    if (!node->decision().empty()) {
      absl::StrAppend(&text, ": ", node->decision(), " -> ", node->choice());
    }
    absl::StrAppend(&text, "\n");
  }
  return CutMiddle(text, max_bytes);
}

std::string StatusDigest(const v1::WorldModel& model, absl::string_view active_node_id,
                         size_t max_bytes) {
  const auto ids = [&](absl::string_view node_id) {
    std::vector<std::string> path;
    for (const v1::Node* node : PathFromRoot(model, node_id)) path.push_back(node->node_id());
    return absl::StrJoin(path, " > ");
  };
  std::string text = absl::StrCat("Active path: ", ids(active_node_id), "\n");
  if (const v1::Node* best = BestNode(model); best != nullptr) {
    absl::StrAppend(&text, "Best node: ", best->node_id(), " [", NodeStatus(model, *best),
                    "], path: ", ids(best->node_id()), "\n");
  } else {
    absl::StrAppend(&text, "Best node: none yet\n");
  }
  int shown = 0;
  for (const v1::Node* node : ChildrenOf(model, model.root_id())) {
    if (!IsOpenAction(model, *node) || shown == kMaxUnexploredRootActions) continue;
    if (shown++ == 0) absl::StrAppend(&text, "Not yet tried at the root:\n");
    absl::StrAppend(&text, "- ", node->node_id(), ": ",
                    OneLine(node->action().title(), kMaxShownTitle), "\n");
  }
  return CutMiddle(text, max_bytes);
}

std::string TombstoneDigest(const v1::WorldModel& model, size_t max_bytes) {
  const int count = model.tombstones_size();
  return JoinWithin(
      count, [&](int i) { return TombstoneLine(model.tombstones(count - 1 - i)); }, max_bytes);
}

}  // namespace ksearch

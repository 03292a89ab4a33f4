#include "coordinator/world_model/digest.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "coordinator/world_model/selection.h"
#include "coordinator/world_model/text.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

constexpr size_t kMaxTitle = 160;
constexpr size_t kMaxDetail = 600;
constexpr size_t kMaxActiveDetail = 4000;  // the active node's texts are shown whole
constexpr size_t kMaxFrontierNotes = 140;  // published: 140
constexpr int kPaperFrontierLines = 10;
constexpr int kMaxUnexploredRootActions = 4;

std::string Status(const v1::WorldModel& model, const v1::Node& node) {
  if (IsRoot(model, node) && !IsSolved(node)) return "root";
  if (IsSolved(node)) {
    std::string text = absl::StrFormat("SOLVED %.3fx", node.solution().score());
    if (node.solution().has_latency_us()) {
      absl::StrAppendFormat(&text, ", %.2f us", node.solution().latency_us());
    }
    if (node.solution().has_confirmed_vs_baseline()) {
      absl::StrAppendFormat(&text, ", confirmed %.3fx", node.solution().confirmed_vs_baseline());
    }
    absl::StrAppend(&text, ", candidate ", node.solution().candidate_id().substr(0, 12));
    return text;
  }
  if (node.closed_too_hard()) {
    if (node.refusals() > 0) {
      return absl::StrCat("GIVEN UP, programs refused by confirmations: ", node.refusals());
    }
    return absl::StrCat("GIVEN UP after ", node.too_hard_count(), " cycles");
  }
  if (node.action().title().empty()) return "grouping";
  std::string text = absl::StrFormat("open, score %.2f, difficulty %d", node.action().score(),
                                     node.action().difficulty());
  if (node.too_hard_count() > 0) {
    absl::StrAppend(&text, ", failed ", node.too_hard_count(), " cycle(s)");
  }
  if (node.refusals() > 0) absl::StrAppend(&text, ", its program REFUSED and to be mended");
  return text;
}

std::string Line(const v1::WorldModel& model, const v1::Node& node) {
  std::string line = absl::StrCat("- ", node.node_id(), " [", Status(model, node), "]");
  if (!node.action().title().empty()) {
    absl::StrAppend(&line, " ", OneLine(node.action().title(), kMaxTitle));
  }
  if (!node.decision().empty()) {
    absl::StrAppend(&line, " (", OneLine(node.decision(), kMaxTitle), " -> ",
                    OneLine(node.choice(), kMaxTitle), ")");
  }
  return line;
}

// What a node's line leaves out, one line for each.
std::vector<std::string> Details(const v1::Node& node, bool active) {
  std::vector<std::string> lines;
  const auto add = [&](absl::string_view label, absl::string_view text) {
    if (text.empty()) return;
    lines.push_back(
        absl::StrCat(label, ": ", OneLine(text, active ? kMaxActiveDetail : kMaxDetail)));
  };
  add("what", node.action().description());
  add("why", node.action().rationale());
  if (node.overall_rating() > 0 || node.confidence() > 0) {
    lines.push_back(absl::StrFormat("belief: rating %.1f/10, confidence %.2f",
                                    node.overall_rating(), node.confidence()));
  }
  const auto impact = [&](absl::string_view label, const v1::Impact& value) {
    if (value.rating() == 0 && value.notes().empty()) return;
    lines.push_back(absl::StrFormat("%s: %.0f/10 %s %s", label, value.rating(),
                                    OneLine(value.risk(), 60), OneLine(value.notes(), 160)));
  };
  impact("memory bandwidth", node.impacts().memory_bandwidth());
  impact("registers", node.impacts().register_pressure());
  impact("compute", node.impacts().compute_intensity());
  add("notes", node.notes());
  for (const std::string& lesson : node.lessons()) add("lesson", lesson);
  for (const std::string& gain : node.gains()) add("gain", gain);
  return lines;
}

// Node ids, most relevant first, each once.
std::vector<std::string> ByRelevance(const v1::WorldModel& model, const std::string& active) {
  std::vector<std::string> order;
  std::set<std::string> seen;
  const auto add = [&](const v1::Node* node) {
    if (node != nullptr && seen.insert(node->node_id()).second) order.push_back(node->node_id());
  };
  auto path = PathFromRoot(model, active);
  std::reverse(path.begin(), path.end());
  for (const v1::Node* node : path) add(node);
  if (const v1::Node* best = BestNode(model); best != nullptr) {
    auto best_path = PathFromRoot(model, best->node_id());
    std::reverse(best_path.begin(), best_path.end());
    for (const v1::Node* node : best_path) add(node);
  }
  SelectionOptions selection;
  selection.max_difficulty = 5;
  for (const v1::Node* node : RankFrontier(model, selection, {})) add(node);
  std::vector<const v1::Node*> rest;
  for (const v1::Node& node : model.nodes()) rest.push_back(&node);
  std::stable_sort(rest.begin(), rest.end(), [](const v1::Node* a, const v1::Node* b) {
    if (IsSolved(*a) != IsSolved(*b)) return IsSolved(*a);
    return a->last_updated_round() > b->last_updated_round();
  });
  for (const v1::Node* node : rest) add(node);
  return order;
}

// The tree's outline within `max_bytes`: which nodes get a line, and which of them details.
class Outline {
 public:
  Outline(const v1::WorldModel& model, const std::string& active, size_t max_bytes)
      : model_(model), active_(active) {
    for (const v1::Node& node : model.nodes()) children_[node.parent_id()].push_back(&node);
    const std::vector<std::string> order = ByRelevance(model, active);
    size_t used = 64;  // room for the line that counts what is left out
    for (const std::string& id : order) {
      // A line needs its ancestors' lines, or its indentation would mislead.
      size_t cost = 0;
      for (const v1::Node* node : PathFromRoot(model, id)) {
        if (lines_.count(node->node_id()) == 0) cost += Indented(*node, Line(model, *node)).size();
      }
      if (used + cost > max_bytes) continue;
      used += cost;
      for (const v1::Node* node : PathFromRoot(model, id)) lines_.insert(node->node_id());
    }
    for (const std::string& id : order) {
      if (lines_.count(id) == 0) continue;
      const v1::Node& node = *FindNode(model, id);
      size_t cost = 0;
      for (const std::string& detail : Details(node, id == active)) {
        cost += Indented(node, absl::StrCat("    ", detail)).size();
      }
      if (used + cost > max_bytes) continue;
      used += cost;
      details_.insert(id);
    }
  }

  std::string Text() const {
    std::string text;
    Append(RootOf(model_), &text);
    const int left_out = model_.nodes_size() - static_cast<int>(lines_.size());
    if (left_out > 0) absl::StrAppend(&text, "(", left_out, " less relevant nodes left out)\n");
    return text;
  }

 private:
  std::string Indented(const v1::Node& node, absl::string_view line) const {
    const size_t depth = PathFromRoot(model_, node.node_id()).size();
    // Every node's size includes the active node's mark, as an upper bound.
    return absl::StrCat(std::string(2 * std::min<size_t>(depth, 32), ' '), line, " <== active\n");
  }

  void Append(const v1::Node& node, std::string* text) const {
    if (lines_.count(node.node_id()) == 0) return;
    const size_t depth = PathFromRoot(model_, node.node_id()).size() - 1;
    const std::string indent(2 * std::min<size_t>(depth, 32), ' ');
    absl::StrAppend(text, indent, Line(model_, node),
                    node.node_id() == active_ ? " <== active" : "", "\n");
    if (details_.count(node.node_id()) > 0) {
      for (const std::string& detail : Details(node, node.node_id() == active_)) {
        absl::StrAppend(text, indent, "    ", detail, "\n");
      }
    }
    const auto children = children_.find(node.node_id());
    if (children == children_.end()) return;
    for (const v1::Node* child : children->second) Append(*child, text);
  }

  const v1::WorldModel& model_;
  const std::string active_;
  std::map<std::string, std::vector<const v1::Node*>> children_;
  std::set<std::string> lines_;
  std::set<std::string> details_;
};

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

std::string FrontierLine(const v1::WorldModel& model, const v1::Node& node, bool paper) {
  const v1::Node* parent = FindNode(model, node.parent_id());
  std::string line = absl::StrCat("- ", node.node_id(), " (parent ", node.parent_id());
  if (parent != nullptr && IsSolved(*parent)) {
    const std::string& id = parent->solution().candidate_id();
    absl::StrAppend(&line, ", parent_solution_id ", paper ? id : id.substr(0, 12));
    absl::StrAppendFormat(&line, ", parent score %.3f", parent->solution().score());
  }
  absl::StrAppend(&line, ", difficulty ", node.action().difficulty());
  if (!paper) absl::StrAppendFormat(&line, ", score %.2f", node.action().score());
  absl::StrAppend(&line, "): ");
  if (!paper) absl::StrAppend(&line, OneLine(node.action().title(), kMaxTitle), "; ");
  absl::StrAppend(&line, OneLine(node.decision(), kMaxTitle), " -> ",
                  OneLine(node.choice(), kMaxTitle));
  if (!node.notes().empty()) {
    absl::StrAppend(&line, "; ", OneLine(node.notes(), kMaxFrontierNotes));
  }
  return line;
}

// Whole lines only; says how many are missing.
std::string JoinWithin(const std::vector<std::string>& lines, size_t max_bytes) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string more = absl::StrCat("(", lines.size() - i, " more)\n");
    const bool last = i + 1 == lines.size();
    if (text.size() + lines[i].size() + 1 + (last ? 0 : more.size()) > max_bytes) {
      return CutText(text + more, max_bytes);
    }
    absl::StrAppend(&text, lines[i], "\n");
  }
  return text;
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
    std::vector<std::string> questions;
    for (const std::string& question : model.open_questions()) {
      questions.push_back(absl::StrCat("? ", OneLine(question, kMaxDetail)));
    }
    absl::StrAppend(&head, "Open questions:\n", JoinWithin(questions, options.max_bytes / 8));
  }
  std::string tail = TombstoneDigest(model, options.max_bytes / 8);
  if (!tail.empty()) tail = absl::StrCat("Pruned, not to be proposed again:\n", tail);
  const size_t fixed = head.size() + tail.size() + 8;
  const size_t room = options.max_bytes > fixed ? options.max_bytes - fixed : 0;
  return CutText(absl::StrCat(head, "Tree:\n", Outline(model, active, room).Text(), tail),
                 options.max_bytes);
}

std::string FrontierDigest(const v1::WorldModel& model, const FrontierDigestOptions& options) {
  std::vector<const v1::Node*> nodes;
  if (options.paper) {
    nodes = Frontier(model);
    std::stable_sort(nodes.begin(), nodes.end(), [&](const v1::Node* a, const v1::Node* b) {
      return PathFromRoot(model, a->node_id()).size() < PathFromRoot(model, b->node_id()).size();
    });
    if (nodes.size() > kPaperFrontierLines) nodes.resize(kPaperFrontierLines);
  } else {
    SelectionOptions selection;
    selection.max_difficulty = 5;
    nodes = RankFrontier(model, selection, options.in_flight);
  }
  if (nodes.empty()) return "(none)\n";
  std::vector<std::string> lines;
  for (const v1::Node* node : nodes) lines.push_back(FrontierLine(model, *node, options.paper));
  if (options.paper) return CutMiddle(absl::StrJoin(lines, "\n") + "\n", options.max_bytes);
  return JoinWithin(lines, options.max_bytes);
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
    absl::StrAppend(&text, "Best node: ", best->node_id(), " [", Status(model, *best),
                    "], path: ", ids(best->node_id()), "\n");
  } else {
    absl::StrAppend(&text, "Best node: none yet\n");
  }
  int shown = 0;
  for (const v1::Node* node : ChildrenOf(model, model.root_id())) {
    if (!IsOpenAction(model, *node) || shown == kMaxUnexploredRootActions) continue;
    if (shown++ == 0) absl::StrAppend(&text, "Not yet tried at the root:\n");
    absl::StrAppend(&text, "- ", node->node_id(), ": ", OneLine(node->action().title(), kMaxTitle),
                    "\n");
  }
  return CutMiddle(text, max_bytes);
}

std::string TombstoneDigest(const v1::WorldModel& model, size_t max_bytes) {
  std::vector<std::string> lines;
  for (auto tombstone = model.tombstones().rbegin(); tombstone != model.tombstones().rend();
       ++tombstone) {
    std::string line =
        absl::StrCat("- ", tombstone->node_id(), " (under ", tombstone->parent_id(), ", round ",
                     tombstone->round(), "): ", OneLine(tombstone->title(), kMaxTitle));
    if (!tombstone->choice().empty()) {
      absl::StrAppend(&line, " (", OneLine(tombstone->decision(), kMaxTitle), " -> ",
                      OneLine(tombstone->choice(), kMaxTitle), ")");
    }
    if (!tombstone->reason().empty()) {
      absl::StrAppend(&line, ": ", OneLine(tombstone->reason(), kMaxTitle));
    }
    lines.push_back(line);
  }
  return JoinWithin(lines, max_bytes);
}

}  // namespace ksearch

#include "coordinator/world_model/tree_outline.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/world_model/selection.h"
#include "coordinator/world_model/text.h"
#include "coordinator/world_model/tree_index.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

constexpr size_t kMaxDetail = 600;
constexpr size_t kMaxActiveDetail = 4000;  // the active node's texts are shown whole
constexpr char kActiveMark[] = " <== active";
constexpr size_t kDeepestIndent = 32;

std::string Line(const v1::WorldModel& model, const v1::Node& node) {
  std::string line = absl::StrCat("- ", node.node_id(), " [", NodeStatus(model, node), "]");
  if (!node.action().title().empty()) {
    absl::StrAppend(&line, " ", OneLine(node.action().title(), kMaxShownTitle));
  }
  if (!node.decision().empty()) {
    absl::StrAppend(&line, " (", OneLine(node.decision(), kMaxShownTitle), " -> ",
                    OneLine(node.choice(), kMaxShownTitle), ")");
  }
  return line;
}

// The details that a node's line leaves out, each on its own line.
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

// A lower bound on the bytes of OneLine(text): it may drop blanks, and most of a text that it cuts.
size_t LeastOneLine(absl::string_view text, size_t max_bytes) {
  constexpr absl::string_view kCut = "...";
  if (text.size() > max_bytes) return kCut.size();
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return !absl::ascii_isspace(static_cast<unsigned char>(c));
  }));
}

// A lower bound on the bytes of NodeStatus; a number takes one, or three if it may be "inf".
size_t LeastStatus(const v1::WorldModel& model, const v1::Node& node) {
  if (IsSolved(node)) {
    constexpr absl::string_view kScore = "SOLVED infx, candidate ";
    constexpr size_t kShownId = 12;
    return kScore.size() + std::min(kShownId, node.solution().candidate_id().size());
  }
  constexpr absl::string_view kRoot = "root", kGivenUp = "GIVEN UP after 1 cycles",
                              kGrouping = "grouping", kOpen = "open, score inf, difficulty 1";
  if (IsRoot(model, node)) return kRoot.size();
  if (node.closed_too_hard()) return kGivenUp.size();
  return node.action().title().empty() ? kGrouping.size() : kOpen.size();
}

// A lower bound on the bytes of Line, which shows without writing the line that it does not fit
// into `room`. Does not look at texts if the rest is too long already.
size_t LeastLine(const v1::WorldModel& model, const v1::Node& node, size_t room) {
  constexpr absl::string_view kFrame = "-  []", kDecisionFrame = " ( -> )";
  size_t bytes = kFrame.size() + node.node_id().size() + LeastStatus(model, node);
  if (bytes > room) return bytes;
  if (!node.action().title().empty()) {
    bytes += 1 + LeastOneLine(node.action().title(), kMaxShownTitle);
  }
  if (!node.decision().empty()) {
    bytes += kDecisionFrame.size() + LeastOneLine(node.decision(), kMaxShownTitle) +
             LeastOneLine(node.choice(), kMaxShownTitle);
  }
  return bytes;
}

// Places, most relevant first, each once.
std::vector<int> ByRelevance(const TreeIndex& index, int active) {
  const v1::WorldModel& model = index.model();
  std::vector<int> order;
  order.reserve(static_cast<size_t>(index.size()));
  std::vector<bool> seen(static_cast<size_t>(index.size()));
  const auto add = [&](int place) {
    if (seen[static_cast<size_t>(place)]) return;
    seen[static_cast<size_t>(place)] = true;
    order.push_back(place);
  };
  const auto add_path = [&](int place) {
    for (int steps = 0; place != TreeIndex::kNone && steps < index.size(); ++steps) {
      add(place);
      place = index.ParentOf(place);
    }
  };
  add_path(active);
  if (const v1::Node* best = BestNode(model); best != nullptr) {
    add_path(index.Find(best->node_id()));
  }
  SelectionOptions selection;
  selection.max_difficulty = 5;
  for (const v1::Node* node : RankFrontier(index, selection, {})) add(index.Find(node->node_id()));
  // Solved nodes first, the most recently changed ones before others, then in the tree's order.
  std::vector<std::tuple<bool, int, int>> rest;
  for (int place = 0; place < index.size(); ++place) {
    if (seen[static_cast<size_t>(place)]) continue;
    const v1::Node& node = index.node(place);
    rest.emplace_back(!IsSolved(node), -node.last_updated_round(), place);
  }
  std::sort(rest.begin(), rest.end());
  for (const auto& [unsolved, round, place] : rest) add(place);
  return order;
}

// Which nodes get a line, and which of those get details.
class Outline {
 public:
  Outline(const v1::WorldModel& model, const std::string& active, size_t max_bytes)
      : index_(model), active_(index_.Find(active)), max_bytes_(max_bytes) {
    const auto count = static_cast<size_t>(index_.size());
    has_line_.resize(count);
    has_details_.resize(count);
    const std::vector<int> order = ByRelevance(index_, active_);
    for (const int place : order) AddLine(place);
    for (const int place : order) {
      if (has_line_[static_cast<size_t>(place)]) AddDetails(place);
    }
    for (int place = 0; place < index_.size(); ++place) {
      if (has_line_[static_cast<size_t>(place)]) children_[index_.ParentOf(place)].push_back(place);
    }
  }

  std::string Text() const {
    std::string text;
    const int root = index_.Find(index_.model().root_id());
    if (root != TreeIndex::kNone) Append(root, &text);
    const int left_out = index_.size() - lines_;
    if (left_out > 0) absl::StrAppend(&text, "(", left_out, " less relevant nodes left out)\n");
    return text;
  }

 private:
  // Bytes of a line of the node. Every node's size includes the active node's mark, as an upper
  // bound.
  size_t Cost(int place, size_t line_bytes) const {
    constexpr size_t kLineEnd = 1;
    const auto depth = static_cast<size_t>(index_.DepthOf(place));
    return 2 * std::min(depth, kDeepestIndent) + line_bytes + sizeof(kActiveMark) - 1 + kLineEnd;
  }

  // Its ancestors need lines, too: without them its indentation would mislead.
  void AddLine(int place) {
    if (has_line_[static_cast<size_t>(place)]) return;
    const v1::WorldModel& model = index_.model();
    const size_t around = used_ + Cost(place, 0);
    if (around > max_bytes_) return;
    const size_t room = max_bytes_ - around;
    if (LeastLine(model, index_.node(place), room) > room) return;
    size_t cost = 0;
    std::vector<int> lines;
    for (int each = place; each != TreeIndex::kNone; each = index_.ParentOf(each)) {
      if (has_line_[static_cast<size_t>(each)] || lines.size() > has_line_.size()) break;
      cost += Cost(each, Line(model, index_.node(each)).size());
      if (used_ + cost > max_bytes_) return;
      lines.push_back(each);
    }
    used_ += cost;
    lines_ += static_cast<int>(lines.size());
    for (const int each : lines) has_line_[static_cast<size_t>(each)] = true;
  }

  void AddDetails(int place) {
    constexpr size_t kMoreIndent = 4;
    size_t cost = 0;
    for (const std::string& detail : Details(index_.node(place), place == active_)) {
      cost += Cost(place, kMoreIndent + detail.size());
    }
    if (used_ + cost > max_bytes_) return;
    used_ += cost;
    has_details_[static_cast<size_t>(place)] = true;
  }

  void Append(int place, std::string* text) const {
    if (!has_line_[static_cast<size_t>(place)]) return;
    const v1::Node& node = index_.node(place);
    const auto depth = static_cast<size_t>(index_.DepthOf(place)) - 1;
    const std::string indent(2 * std::min(depth, kDeepestIndent), ' ');
    absl::StrAppend(text, indent, Line(index_.model(), node), place == active_ ? kActiveMark : "",
                    "\n");
    if (has_details_[static_cast<size_t>(place)]) {
      for (const std::string& detail : Details(node, place == active_)) {
        absl::StrAppend(text, indent, "    ", detail, "\n");
      }
    }
    const auto children = children_.find(place);
    if (children == children_.end()) return;
    for (const int child : children->second) Append(child, text);
  }

  const TreeIndex index_;
  const int active_;  // place
  const size_t max_bytes_;
  size_t used_ = 64;  // room for the line that counts what is left out
  int lines_ = 0;
  std::vector<bool> has_line_;
  std::vector<bool> has_details_;
  absl::flat_hash_map<int, std::vector<int>> children_;  // with a line, by the parent's place
};

}  // namespace

std::string NodeStatus(const v1::WorldModel& model, const v1::Node& node) {
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
  if (node.refusals() > 0) absl::StrAppend(&text, ", its program REFUSED and to be fixed");
  return text;
}

std::string TreeOutline(const v1::WorldModel& model, const std::string& active, size_t max_bytes) {
  return Outline(model, active, max_bytes).Text();
}

}  // namespace ksearch

#include "coordinator/world_model/world_model.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/world_model/text.h"

namespace ksearch {
namespace {

// Keeps ids valid for long task names; the published system's limit.
constexpr int kMaxTaskInId = 48;

bool IsIdCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
}

// Lower case, runs of anything but letters and digits as one space.
std::string Folded(absl::string_view text) {
  std::string folded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || byte >= 0x80) {
      folded.push_back(absl::ascii_tolower(byte));
    } else if (!folded.empty() && folded.back() != ' ') {
      folded.push_back(' ');
    }
  }
  if (!folded.empty() && folded.back() == ' ') folded.pop_back();
  return folded;
}

// Returns true if Folded(text) is `folded`; ends at the first difference.
bool FoldsTo(absl::string_view text, absl::string_view folded) {
  const auto take = [&](char c) {
    if (folded.empty() || folded.front() != c) return false;
    folded.remove_prefix(1);
    return true;
  };
  bool begun = false, gap = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (!absl::ascii_isalnum(byte) && byte < 0x80) {
      gap = begun;
      continue;
    }
    if (std::exchange(gap, false) && !take(' ')) return false;
    if (!take(static_cast<char>(absl::ascii_tolower(byte)))) return false;
    begun = true;
  }
  return folded.empty();
}

bool IsConnectedToRoot(const TreeIndex& index, int place) {
  for (int steps = 0; place != TreeIndex::kNone && steps <= index.size(); ++steps) {
    if (IsRoot(index.model(), index.node(place))) return true;
    place = index.ParentOf(place);
  }
  return false;
}

void Touch(v1::WorldModel* model) { model->set_revision(model->revision() + 1); }

}  // namespace

v1::WorldModel NewWorldModel() {
  v1::WorldModel model;
  model.set_root_id(kRootId);
  model.set_active_node_id(kRootId);
  v1::Node root;
  root.set_node_id(kRootId);
  AppendNode(&model, std::move(root));
  return model;
}

// Most callers ask for the root, or for nodes that were inserted late.
const v1::Node* FindNode(const v1::WorldModel& model, absl::string_view node_id) {
  const auto& nodes = model.nodes();
  if (!nodes.empty() && nodes[0].node_id() == node_id) return &nodes[0];
  const auto found = std::find_if(nodes.rbegin(), nodes.rend(),
                                  [&](const v1::Node& node) { return node.node_id() == node_id; });
  return found == nodes.rend() ? nullptr : &*found;
}

v1::Node* FindMutableNode(v1::WorldModel* model, absl::string_view node_id) {
  return const_cast<v1::Node*>(FindNode(*model, node_id));
}

const v1::Node& RootOf(const v1::WorldModel& model) {
  const v1::Node* root = FindNode(model, model.root_id());
  return root == nullptr ? v1::Node::default_instance() : *root;
}

std::vector<const v1::Node*> ChildrenOf(const v1::WorldModel& model, absl::string_view node_id) {
  std::vector<const v1::Node*> children;
  for (const v1::Node& node : model.nodes()) {
    if (!IsRoot(model, node) && node.parent_id() == node_id) children.push_back(&node);
  }
  return children;
}

std::vector<const v1::Node*> PathFromRoot(const v1::WorldModel& model, absl::string_view node_id) {
  std::vector<const v1::Node*> path;
  const v1::Node* node = FindNode(model, node_id);
  // The bound ends the walk in case the parents form a cycle.
  while (node != nullptr && static_cast<int>(path.size()) <= model.nodes_size()) {
    path.push_back(node);
    if (IsRoot(model, *node)) break;
    node = FindNode(model, node->parent_id());
  }
  std::reverse(path.begin(), path.end());
  return path;
}

bool IsRoot(const v1::WorldModel& model, const v1::Node& node) {
  return node.node_id() == model.root_id();
}

bool IsSolved(const v1::Node& node) { return !node.solution().candidate_id().empty(); }

bool IsOpenAction(const v1::WorldModel& model, const v1::Node& node) {
  return !IsRoot(model, node) && !IsSolved(node) && !node.closed_too_hard() &&
         !node.action().title().empty();
}

std::vector<const v1::Node*> Frontier(const v1::WorldModel& model) {
  const TreeIndex index(model);
  std::vector<const v1::Node*> frontier;
  for (const int place : FrontierPlaces(index)) frontier.push_back(&index.node(place));
  return frontier;
}

std::vector<int> FrontierPlaces(const TreeIndex& index) {
  const v1::WorldModel& model = index.model();
  std::vector<int> frontier;
  for (int place = 0; place < index.size(); ++place) {
    const int parent = index.ParentOf(place);
    if (parent == TreeIndex::kNone || !IsOpenAction(model, index.node(place))) continue;
    const v1::Node& above = index.node(parent);
    if (IsRoot(model, above) || IsSolved(above)) frontier.push_back(place);
  }
  return frontier;
}

int CountOpenActions(const v1::WorldModel& model) {
  return std::count_if(model.nodes().begin(), model.nodes().end(),
                       [&](const v1::Node& node) { return IsOpenAction(model, node); });
}

bool HasOpenChild(const v1::WorldModel& model, absl::string_view node_id) {
  return std::any_of(model.nodes().begin(), model.nodes().end(), [&](const v1::Node& node) {
    return node.parent_id() == node_id && IsOpenAction(model, node);
  });
}

const v1::Node* BestNode(const v1::WorldModel& model) {
  const v1::Node* best = nullptr;
  for (const v1::Node& node : model.nodes()) {
    if (!IsSolved(node)) continue;
    if (best == nullptr || node.solution().score() > best->solution().score() ||
        (node.solution().score() == best->solution().score() && node.node_id() > best->node_id())) {
      best = &node;
    }
  }
  return best;
}

std::string SanitizedId(absl::string_view wanted) {
  std::string id(absl::StripAsciiWhitespace(wanted).substr(0, kMaxNodeIdLength));
  for (char& c : id) {
    if (!IsIdCharacter(c)) c = '_';
  }
  return id;
}

std::string FreshId(const v1::WorldModel& model, absl::string_view prefix, absl::string_view task,
                    int round, absl::string_view suffix, int* last) {
  const std::string name = SanitizedId(task.substr(0, kMaxTaskInId));
  for (int k = last == nullptr ? 1 : *last + 1;; ++k) {
    if (last != nullptr) *last = k;
    const std::string tail = absl::StrCat("_r", round, "_", suffix, k);
    const size_t room = kMaxNodeIdLength - prefix.size() - tail.size();
    const std::string id = absl::StrCat(prefix, name.substr(0, std::min(name.size(), room)), tail);
    if (FindNode(model, id) == nullptr) return id;
  }
}

v1::Node* AppendNode(v1::WorldModel* model, v1::Node node) {
  node.set_insertion_index(model->next_insertion_index());
  model->set_next_insertion_index(model->next_insertion_index() + 1);
  Touch(model);
  v1::Node* added = model->add_nodes();
  *added = std::move(node);
  return added;
}

absl::Status AttachSolution(v1::WorldModel* model, absl::string_view node_id,
                            const v1::Solution& solution) {
  v1::Node* node = FindMutableNode(model, node_id);
  if (node == nullptr) return absl::NotFoundError(absl::StrCat("no node ", node_id));
  if (IsSolved(*node)) {
    return absl::FailedPreconditionError(absl::StrCat("node ", node_id, " is solved already"));
  }
  *node->mutable_solution() = solution;
  node->set_last_updated_round(solution.round());
  model->set_active_node_id(node->node_id());
  Touch(model);
  return absl::OkStatus();
}

void WithdrawSolution(v1::WorldModel* model, absl::string_view node_id) {
  v1::Node* node = FindMutableNode(model, node_id);
  if (node == nullptr || !IsSolved(*node)) return;
  node->clear_solution();
  Touch(model);
}

void CountRefusal(v1::WorldModel* model, absl::string_view node_id, int limit) {
  v1::Node* node = FindMutableNode(model, node_id);
  if (node == nullptr) return;
  node->set_refusals(node->refusals() + 1);
  if (!IsRoot(*model, *node)) node->set_closed_too_hard(node->refusals() >= limit);
  Touch(model);
}

void NoteConfirmedSpeedup(v1::WorldModel* model, const std::string& candidate_id, double speedup) {
  bool changed = false;
  for (v1::Node& node : *model->mutable_nodes()) {
    if (node.solution().candidate_id() != candidate_id) continue;
    node.mutable_solution()->set_confirmed_vs_baseline(speedup);
    changed = true;
  }
  if (changed) Touch(model);
}

void AddLesson(v1::WorldModel* model, absl::string_view node_id, absl::string_view lesson) {
  v1::Node* node = FindMutableNode(model, node_id);
  if (node == nullptr) return;
  node->add_lessons(CutText(lesson, kMaxLessonBytes));
  if (node->lessons_size() > kMaxLessons) {
    node->mutable_lessons()->DeleteSubrange(0, node->lessons_size() - kMaxLessons);
  }
  Touch(model);
}

void AddGain(v1::WorldModel* model, absl::string_view node_id, absl::string_view gain) {
  v1::Node* node = FindMutableNode(model, node_id);
  if (node == nullptr) return;
  node->add_gains(CutText(gain, kMaxLessonBytes));
  if (node->gains_size() > kMaxLessons) {
    node->mutable_gains()->DeleteSubrange(0, node->gains_size() - kMaxLessons);
  }
  Touch(model);
}

bool RecordTooHard(v1::WorldModel* model, absl::string_view node_id, double decay, int limit,
                   int round) {
  v1::Node* node = FindMutableNode(model, node_id);
  if (node == nullptr || IsSolved(*node) || node->closed_too_hard()) return false;
  node->mutable_action()->set_score(std::clamp(node->action().score() * decay, 0.0, 1.0));
  node->set_too_hard_count(node->too_hard_count() + 1);
  node->set_last_updated_round(round);
  node->set_closed_too_hard(node->too_hard_count() >= limit);
  Touch(model);
  return node->closed_too_hard();
}

void RemoveLeaf(v1::WorldModel* model, absl::string_view node_id, absl::string_view reason,
                int round, bool leave_tombstone) {
  for (int i = 0; i < model->nodes_size(); ++i) {
    const v1::Node& node = model->nodes(i);
    if (node.node_id() != node_id) continue;
    if (leave_tombstone) {
      v1::Tombstone* tombstone = model->add_tombstones();
      tombstone->set_node_id(node.node_id());
      tombstone->set_parent_id(node.parent_id());
      tombstone->set_decision(node.decision());
      tombstone->set_choice(node.choice());
      tombstone->set_title(node.action().title());
      tombstone->set_reason(std::string(reason));
      tombstone->set_round(round);
    }
    if (model->active_node_id() == node_id) model->set_active_node_id(node.parent_id());
    model->mutable_nodes()->DeleteSubrange(i, 1);
    Touch(model);
    return;
  }
}

const v1::Tombstone* FindTombstone(const v1::WorldModel& model, const v1::Node& intent) {
  const std::string title = Folded(intent.action().title());
  const std::string decision = Folded(intent.decision());
  const std::string choice = Folded(intent.choice());
  for (const v1::Tombstone& tombstone : model.tombstones()) {
    const bool same_title = !title.empty() && FoldsTo(tombstone.title(), title);
    const bool same_choice = FoldsTo(tombstone.choice(), choice);
    const bool same_decision =
        !choice.empty() && same_choice && FoldsTo(tombstone.decision(), decision);
    if (same_title && same_choice) return &tombstone;
    if (tombstone.parent_id() == intent.parent_id() && (same_title || same_decision)) {
      return &tombstone;
    }
  }
  return nullptr;
}

absl::Status CheckInvariants(const v1::WorldModel& model) {
  std::vector<std::string> faults;
  std::set<std::string> ids;
  const TreeIndex index(model);
  int last_index = -1;
  for (const v1::Node& node : model.nodes()) {
    const std::string& id = node.node_id();
    if (id.empty() || SanitizedId(id) != id) faults.push_back(absl::StrCat("illegal id ", id));
    if (!ids.insert(id).second) faults.push_back(absl::StrCat("two nodes ", id));
    if (node.insertion_index() <= last_index) {
      faults.push_back(absl::StrCat("node ", id, ": insertion index does not rise"));
    }
    last_index = node.insertion_index();
    const auto in = [](double value, double low, double high) {
      return value >= low && value <= high;
    };
    if (!in(node.overall_rating(), 0, 10) || !in(node.confidence(), 0, 1) ||
        !in(node.action().score(), 0, 1) ||
        !in(node.action().difficulty(), node.has_action() ? 1 : 0, 5)) {
      faults.push_back(absl::StrCat("node ", id, ": a number is out of range"));
    }
    if (node.has_solution() && !IsSolved(node)) {
      faults.push_back(absl::StrCat("node ", id, ": solution without candidate"));
    }
    if (IsRoot(model, node)) {
      if (!node.parent_id().empty() || !node.decision().empty() || !node.choice().empty()) {
        faults.push_back("the root has a parent or a decision");
      }
    } else if (!IsConnectedToRoot(index, index.Find(id))) {
      faults.push_back(absl::StrCat("node ", id, " does not hang on the root"));
    }
  }
  if (ids.count(model.root_id()) == 0) faults.push_back("no root");
  if (ids.count(model.active_node_id()) == 0) faults.push_back("active node does not exist");
  if (model.next_insertion_index() <= last_index)
    faults.push_back("next insertion index too small");
  if (faults.empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("world model: ", absl::StrJoin(faults, "; ")));
}

}  // namespace ksearch

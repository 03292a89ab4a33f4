#include "coordinator/llm/model_server/landscape/landscape_planner.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

namespace ksearch {
namespace {

using Json = nlohmann::json;

constexpr int kFirstPlans = 6;
constexpr int kPlansOfRefinement = 2;
constexpr size_t kMaxRescored = 12;
constexpr size_t kMaxIdBytes = 48;
constexpr double kSteepness = 2;  // slope of the score over the log speed-up
constexpr double kLeastScore = 0.03, kMostScore = 0.97;
constexpr int kMostDifficulty = 4;

// Builds an edit script for one tree.
class Planner {
 public:
  Planner(const Landscape& landscape, const LandscapeKnowledge& knowledge,
          const LandscapePrompt& prompt, Rng* rng)
      : landscape_(landscape), knowledge_(knowledge), prompt_(prompt), rng_(rng) {
    for (const ShownNode& node : prompt.nodes) {
      nodes_[node.id] = &node;
      ids_.insert(node.id);
    }
    for (const ShownNode& node : prompt.nodes) {
      const std::optional<LandscapePoint> point = PointOf(node);
      if (point.has_value() && node.open) known_.insert(*point);
      if (point.has_value() && node.solved) known_.insert(*point);
      if (node.solved) best_ = std::max(best_, node.speedup);
    }
    for (const LandscapeCode& code : prompt.programs) known_.insert(code.point);
    known_.insert(landscape.start());
  }

  std::string InitialTree() {
    // A given program is where the search begins.
    const LandscapePoint base =
        prompt_.programs.empty() ? landscape_.start() : prompt_.programs.back().point;
    known_.insert(base);
    Json nodes = Json::array();
    nodes.push_back(
        {{"node_id", "root"}, {"parent_id", nullptr}, {"notes", CurrentNote(landscape_, base)}});
    const int wanted = std::min(kFirstPlans, prompt_.max_new_nodes);
    for (int i = 0; i < wanted; ++i) {
      std::optional<Json> node = NewNode(base, 1);
      if (!node.has_value()) break;
      (*node)["parent_id"] = "root";
      nodes.push_back(*std::move(node));
    }
    const Json reply = {
        {"kernel_summary", "A map over all elements, with more work than it needs."},
        {"open_questions", Json::array({"Which choices go together?"})},
        {"decision_tree", {{"root_id", "root"}, {"nodes", std::move(nodes)}}}};
    return reply.dump(1);
  }

  std::string Edits() {
    Json ops = Json::array();
    const ShownNode* const node = Find(prompt_.node);
    if (node != nullptr && prompt_.gave_up) {
      GiveUp(*node, &ops);
    } else if (node != nullptr) {
      Refine(*node, &ops);
    } else {
      Propose(&ops);
    }
    Rescore(&ops);
    return Json({{"ops", std::move(ops)}}).dump(1);
  }

 private:
  const ShownNode* Find(const std::string& id) const {
    const auto found = nodes_.find(id);
    return found == nodes_.end() ? nullptr : found->second;
  }

  // The changes in the node's program: as its notes say, or else by the changes on the path to it.
  std::optional<LandscapePoint> PointOf(const ShownNode& node) const {
    if (node.point.has_value()) return node.point;
    if (node.parent.empty()) return landscape_.start();
    const ShownNode* const parent = Find(node.parent);
    if (parent == nullptr) return std::nullopt;
    const std::optional<LandscapePoint> base = PointOf(*parent);
    if (!base.has_value()) return std::nullopt;
    return Changed(*base, node.change);
  }

  double SpeedupOf(const ShownNode& node) const {
    return node.solved && node.speedup > 0 ? node.speedup : 1;
  }

  // The score of doing it next: the believed speed of its result, relative to the best so far.
  double ScoreOf(double base_speedup, double belief) const {
    const double ahead = std::log(base_speedup / best_) + belief;
    return std::clamp(1 / (1 + std::exp(-kSteepness * ahead)), kLeastScore, kMostScore);
  }

  // An intent that changes the program `point`; nullopt: no new change is known.
  std::optional<Json> NewNode(const LandscapePoint& point, double base_speedup) {
    const bool pair = rng_->NextDouble() < landscape_.spec().knowledge().paired_plans();
    const auto change = knowledge_.Draw(point, pair ? 2 : 1, known_, {}, rng_);
    if (!change.has_value()) return std::nullopt;
    known_.insert(Changed(point, *change));
    const double belief = knowledge_.Belief(point, *change);
    const std::string text = WriteChange(landscape_, *change);
    const double score = ScoreOf(base_speedup, belief);
    std::string meaning = absl::StrJoin(*change, " and ", [&](std::string* out, const auto& step) {
      absl::StrAppend(out, landscape_.spec().parameters(step.parameter).meaning());
    });
    return Json{{"node_id", NewId(text)},
                {"decision", absl::StrCat("Which ", meaning, "?")},
                {"choice", text},
                {"overall_rating_0_to_10", 10 * score},
                {"confidence_0_to_1", 0.5},
                {"notes", ""},
                {"action",
                 {{"title", absl::StrCat("Make it ", text, IntentsOf(landscape_, *change))},
                  {"description", absl::StrCat("Change the program to ", text, " and no more.")},
                  {"rationale", "It should take less time."},
                  {"difficulty_1_to_5", std::min<int>(kMostDifficulty, 1 + change->size())},
                  {"score_0_to_1", score},
                  {"expected_vs_baseline_factor",
                   std::clamp(base_speedup * std::exp(belief), 0.01, 1000.0)}}}};
  }

  std::string NewId(absl::string_view text) {
    std::string id;
    for (const char c : text.substr(0, kMaxIdBytes)) id += c == '=' || c == ' ' ? '_' : c;
    std::string fresh = id;
    for (int n = 2; !ids_.insert(fresh).second; ++n) fresh = absl::StrCat(id, "-", n);
    return fresh;
  }

  // Returns false if no new change is known.
  bool Insert(const std::string& parent, const LandscapePoint& point, double base_speedup,
              Json* ops) {
    if (inserted_ >= prompt_.max_new_nodes) return false;
    std::optional<Json> node = NewNode(point, base_speedup);
    if (!node.has_value()) return false;
    ++inserted_;
    ops->push_back({{"op", "insert_node"}, {"parent_id", parent}, {"node", *std::move(node)}});
    return true;
  }

  void Refine(const ShownNode& node, Json* ops) {
    const std::optional<LandscapePoint> point =
        prompt_.programs.empty() ? PointOf(node) : prompt_.programs.back().point;
    if (!point.has_value()) return;
    ops->push_back({{"op", "update_node"},
                    {"node_id", node.id},
                    {"patch", {{"notes", CurrentNote(landscape_, *point)}}}});
    for (int i = 0; i < kPlansOfRefinement; ++i) Insert(node.id, *point, SpeedupOf(node), ops);
    if (inserted_ > 0) return;
    // The node must have an open child, even where all that could follow is known.
    known_.clear();
    Insert(node.id, *point, SpeedupOf(node), ops);
  }

  void GiveUp(const ShownNode& node, Json* ops) {
    ops->push_back({{"op", "update_node"},
                    {"node_id", node.id},
                    {"patch",
                     {{"confidence_0_to_1", 0.8},
                      {"action", {{"score_0_to_1", 0.1}, {"difficulty_1_to_5", 5}}}}}});
    lowered_.insert(node.id);
    const ShownNode* const parent = Find(node.parent);
    if (parent == nullptr) return;
    const std::optional<LandscapePoint> point = PointOf(*parent);
    if (point.has_value()) Insert(parent->id, *point, SpeedupOf(*parent), ops);
  }

  // Adds next steps from the best programs, including the root while nothing is better.
  void Propose(Json* ops) {
    std::vector<const ShownNode*> bases;
    for (const ShownNode& node : prompt_.nodes) {
      if (node.solved || node.parent.empty()) bases.push_back(&node);
    }
    std::stable_sort(bases.begin(), bases.end(), [&](const ShownNode* a, const ShownNode* b) {
      return SpeedupOf(*a) > SpeedupOf(*b);
    });
    for (const ShownNode* base : bases) {
      const std::optional<LandscapePoint> point = PointOf(*base);
      if (point.has_value()) Insert(base->id, *point, SpeedupOf(*base), ops);
    }
  }

  // Scores the open actions again, relative to the best so far.
  void Rescore(Json* ops) {
    size_t rescored = 0;
    for (const ShownNode& node : prompt_.nodes) {
      const ShownNode* const parent = Find(node.parent);
      if (!node.open || parent == nullptr || (!parent->solved && !parent->parent.empty())) continue;
      if (node.id == prompt_.node || lowered_.count(node.id) > 0 || node.change.empty()) continue;
      const std::optional<LandscapePoint> point = PointOf(*parent);
      if (!point.has_value() || rescored++ == kMaxRescored) continue;
      const double score = ScoreOf(SpeedupOf(*parent), knowledge_.Belief(*point, node.change));
      ops->push_back({{"op", "update_node"},
                      {"node_id", node.id},
                      {"patch", {{"action", {{"score_0_to_1", score}}}}}});
    }
  }

  const Landscape& landscape_;
  const LandscapeKnowledge& knowledge_;
  const LandscapePrompt& prompt_;
  Rng* const rng_;
  std::map<std::string, const ShownNode*> nodes_;
  std::set<std::string> ids_;
  std::set<LandscapePoint> known_;  // programs that exist, or that an intent leads to
  std::set<std::string> lowered_;
  double best_ = 1;  // speed-up of the best solved node
  int inserted_ = 0;
};

}  // namespace

std::string WritePlan(const Landscape& landscape, const LandscapeKnowledge& knowledge,
                      const LandscapePrompt& prompt, Rng* rng) {
  Planner planner(landscape, knowledge, prompt, rng);
  return prompt.form == LandscapePrompt::Form::kInitialTree ? planner.InitialTree()
                                                            : planner.Edits();
}

}  // namespace ksearch

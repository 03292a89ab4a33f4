#include "bench/agreement/trees.h"

#include <map>
#include <string>

#include "common/log.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/world_model/edit.h"
#include "coordinator/world_model/selection.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

v1::Node ReadNode(const Json& json) {
  v1::Node node;
  node.set_node_id(json.at("node_id"));
  if (json.at("parent_id").is_string()) node.set_parent_id(json.at("parent_id"));
  if (json.at("decision").is_string()) node.set_decision(json.at("decision"));
  if (json.at("choice").is_string()) node.set_choice(json.at("choice"));
  node.set_overall_rating(json.at("overall_rating_0_to_10"));
  node.set_confidence(json.at("confidence_0_to_1"));
  node.set_notes(json.at("notes"));
  const Json& action = json.at("action");
  node.mutable_action()->set_title(action.at("title"));
  node.mutable_action()->set_difficulty(action.at("difficulty_1_to_5"));
  node.mutable_action()->set_score(action.at("score_0_to_1"));
  const Json& solution = json.at("solution_ref");
  if (!solution.at("solution_id").is_string()) return node;
  node.mutable_solution()->set_candidate_id(solution.at("solution_id"));
  const Json& evaluation = solution.at("eval");
  node.mutable_solution()->set_score(evaluation.at("metrics").at("score"));
  if (evaluation.at("mean_vs_baseline_factor").is_number()) {
    node.mutable_solution()->set_vs_baseline(evaluation.at("mean_vs_baseline_factor"));
  }
  return node;
}

}  // namespace

v1::WorldModel ReadPublishedTree(const Json& json) {
  const Json& tree = json.at("decision_tree");
  v1::WorldModel model = NewWorldModel();
  for (const Json& each : tree.at("nodes")) {
    v1::Node node = ReadNode(each);
    if (node.node_id() == model.root_id()) {
      v1::Node* root = FindMutableNode(&model, model.root_id());
      *root->mutable_solution() = node.solution();
      if (!node.has_solution()) root->clear_solution();
      root->set_overall_rating(node.overall_rating());
      root->set_confidence(node.confidence());
      root->set_notes(node.notes());
      continue;
    }
    AppendNode(&model, std::move(node));
  }
  model.set_active_node_id(tree.at("active_leaf_id"));
  return model;
}

Json ShownTree(const v1::WorldModel& model) {
  std::map<std::string, Json> nodes;
  for (const v1::Node& node : model.nodes()) {
    if (IsRoot(model, node)) continue;
    nodes[node.node_id()] = {node.node_id(),
                             node.parent_id(),
                             !node.action().title().empty(),
                             node.action().difficulty(),
                             node.action().score(),
                             node.overall_rating(),
                             node.confidence(),
                             IsSolved(node)};
  }
  Json shown = Json::array();
  for (auto& [id, node] : nodes) shown.push_back(std::move(node));
  return shown;
}

Json EditedTree(const Json& each) {
  v1::WorldModel model = ReadPublishedTree(each.at("tree"));
  EditReplyOptions reading;
  reading.clamp = true;
  const auto script = ParseEditReply(each.at("reply").get<std::string>(), reading);
  Json answer;
  answer["parsed"] = script.ok();
  if (script.ok()) {
    EditOptions options;
    options.mode = EditMode::kPaper;
    options.round = each.at("round");
    options.task = each.at("task");
    const EditReport report = ApplyEdits(*script, options, &model);
    const SkipCounts& skipped = report.skipped;
    answer["skipped"] = {skipped.over_cap,
                         skipped.missing_parent,
                         skipped.parent_solution_mismatch,
                         skipped.update_of_missing_node,
                         skipped.invalid_insert,
                         skipped.invalid_split_children,
                         skipped.delete_not_allowed};
    answer["done"] = {report.updates, report.inserts, report.split_children, report.deletes};
    answer["clean"] = skipped.total() == 0;
  }
  answer["nodes"] = ShownTree(model);
  answer["active"] = model.active_node_id();
  SelectionOptions selection;
  selection.paper = true;
  selection.max_difficulty = each.at("max_difficulty");
  const v1::Node* picked = SelectNode(model, selection, {});
  answer["picked"] = picked == nullptr ? Json() : Json(picked->node_id());
  answer["frontier"] = Frontier(model).size();
  const v1::Node* best = BestNode(model);
  answer["best"] = best == nullptr ? Json() : Json(best->node_id());
  answer["best_lacks_child"] = best != nullptr && !HasOpenChild(model, best->node_id());
  return answer;
}

}  // namespace ksearch

#ifndef KSEARCH_TESTS_COORDINATOR_WORLD_MODEL_TREE_BUILDER_H_
#define KSEARCH_TESTS_COORDINATOR_WORLD_MODEL_TREE_BUILDER_H_

#include <string>

#include "coordinator/world_model/world_model.h"

namespace ksearch {

// Builds small trees for tests: an action under `parent`, solved if `solution_score` >= 0 with
// candidate id "c_<id>" and the score as its factor over the baseline.
struct ActionSpec {
  std::string id;
  std::string parent = "root";
  double score = 0.5;
  int difficulty = 3;
  double rating = 5;
  double solution_score = -1;
};

inline void AddAction(v1::WorldModel* model, const ActionSpec& spec) {
  v1::Node node;
  node.set_node_id(spec.id);
  node.set_parent_id(spec.parent);
  node.set_decision("decision of " + spec.id);
  node.set_choice("choice of " + spec.id);
  node.set_overall_rating(spec.rating);
  node.set_confidence(0.5);
  node.mutable_action()->set_title("title of " + spec.id);
  node.mutable_action()->set_difficulty(spec.difficulty);
  node.mutable_action()->set_score(spec.score);
  if (spec.solution_score >= 0) {
    node.mutable_solution()->set_candidate_id("c_" + spec.id);
    node.mutable_solution()->set_score(spec.solution_score);
    node.mutable_solution()->set_vs_baseline(spec.solution_score);
  }
  AppendNode(model, node);
}

}  // namespace ksearch

#endif  // KSEARCH_TESTS_COORDINATOR_WORLD_MODEL_TREE_BUILDER_H_

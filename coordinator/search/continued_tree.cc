#include "coordinator/search/continued_tree.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/status_macros.h"
#include "coordinator/search/score.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

constexpr char kStrategyWithTree[] = "world_model";
// A run of 300 rounds has some hundreds of nodes.
constexpr int kMaxNodes = 1024;

absl::Status Fault(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("initial_tree: ", what));
}

}  // namespace

absl::Status CheckKeepsTree(absl::string_view strategy) {
  if (strategy == kStrategyWithTree) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("strategy '", strategy, "' has no tree; only ", kStrategyWithTree, " has one"));
}

absl::Status CheckInitialTree(const v1::RunConfig& config) {
  if (!config.has_initial_tree()) return absl::OkStatus();
  RETURN_IF_ERROR(Annotate(CheckKeepsTree(config.strategy()), "initial_tree"));
  if (config.seed_solution_size() == 0) {
    return Fault("there is no seed_solution, the program that the search begins with");
  }
  const v1::InitialTree& tree = config.initial_tree();
  const v1::WorldModel& model = tree.world_model();
  if (model.nodes_size() > kMaxNodes) {
    return Fault(
        absl::StrCat("it has ", model.nodes_size(), " nodes, at most ", kMaxNodes, " may be"));
  }
  if (const absl::Status sound = CheckInvariants(model); !sound.ok()) {
    return Fault(std::string(sound.message()));
  }
  if (model.root_id() != kRootId) return Fault(absl::StrCat("its root is not called ", kRootId));
  for (const v1::Node& node : model.nodes()) {
    if (!IsSolved(node)) continue;
    const auto program = tree.programs().find(node.solution().candidate_id());
    if (program == tree.programs().end()) {
      return Fault(absl::StrCat("programs has none for the solved node ", node.node_id()));
    }
    if (program->second.language() != config.language()) {
      return Fault(
          absl::StrCat("the program of node ", node.node_id(), " is not in the run's language"));
    }
    if (CandidateId(program->second) != program->first) {
      return Fault(absl::StrCat("the program of node ", node.node_id(), " is another than ",
                                program->first));
    }
  }
  return absl::OkStatus();
}

void AdoptTree(const v1::InitialTree& tree, const v1::ScreenedProgram& seed,
               v1::SearchState* state) {
  v1::WorldModel* const model = state->mutable_world_model();
  const int64_t revision = model->revision();
  *model = tree.world_model();
  model->set_revision(revision + 1);
  (*state->mutable_solutions())[seed.candidate_id()] = seed;
  bool solved_by_seed = false;
  for (v1::Node& node : *model->mutable_nodes()) {
    // The rounds are those of another run.
    node.set_last_updated_round(0);
    if (!IsSolved(node)) continue;
    v1::Solution* const solution = node.mutable_solution();
    if (solution->candidate_id() == seed.candidate_id()) {
      solved_by_seed = true;
      *solution = SolutionOf(seed, solution->parent_candidate_id());
      continue;
    }
    solution->set_round(0);
    v1::ScreenedProgram program;
    program.set_candidate_id(solution->candidate_id());
    *program.mutable_sources() = tree.programs().at(solution->candidate_id());
    program.set_passed(true);
    program.set_score(solution->score());
    if (solution->has_latency_us()) program.set_latency_us(solution->latency_us());
    if (solution->has_vs_baseline()) program.set_vs_baseline(solution->vs_baseline());
    state->mutable_solutions()->insert({program.candidate_id(), program});
  }
  for (v1::Tombstone& tombstone : *model->mutable_tombstones()) tombstone.set_round(0);
  if (!solved_by_seed) {
    *FindMutableNode(model, kRootId)->mutable_solution() = SolutionOf(seed, "");
  }
}

}  // namespace ksearch

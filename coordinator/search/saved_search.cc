#include "coordinator/search/saved_search.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "coordinator/search/score.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {

namespace {

// A field that moved to the log has the same number there; every other field was unknown to the
// message that it is not part of.
void UpgradeFromVersion1(v1::SearchState* state) {
  v1::EvaluationLogState* log = state->mutable_log();
  state->DiscardUnknownFields();
  for (const auto& [id, program] : log->screened()) NoteFloors(program.result(), log);
  state->set_version(kSearchStateVersion);
}

// Puts the tree in that the state was saved without.
absl::Status ReadTree(const ProgramShelf& trees, v1::WorldModel* tree) {
  absl::StatusOr<v1::WorldModel> read = trees.ReadWorldModel(tree->revision());
  if (absl::IsNotFound(read.status())) {
    return absl::DataLossError(
        absl::StrCat("the tree of the search is gone: ", read.status().message()));
  }
  RETURN_IF_ERROR(read.status());
  tree->mutable_nodes()->Swap(read->mutable_nodes());
  tree->mutable_tombstones()->Swap(read->mutable_tombstones());
  return absl::OkStatus();
}

}  // namespace

std::string EncodeWithoutTree(const v1::SearchState& state, SavedPrograms* saved,
                              SavedPrograms* solutions) {
  const std::string& solved = solutions->Fields(state.solutions());
  auto& rest = const_cast<v1::SearchState&>(state);
  v1::WorldModel& tree = *rest.mutable_world_model();
  SavedPrograms::Programs programs;
  google::protobuf::RepeatedPtrField<v1::Node> nodes;
  google::protobuf::RepeatedPtrField<v1::Tombstone> tombstones;
  tree.mutable_nodes()->Swap(&nodes);
  tree.mutable_tombstones()->Swap(&tombstones);
  rest.mutable_solutions()->swap(programs);
  std::string bytes =
      saved->Encode(state, state.log(), v1::SearchState::kLogFieldNumber, solved.size());
  tree.mutable_nodes()->Swap(&nodes);
  tree.mutable_tombstones()->Swap(&tombstones);
  rest.mutable_solutions()->swap(programs);
  bytes += solved;
  return bytes;
}

absl::StatusOr<v1::SearchState> DecodeSearchState(const std::string& bytes,
                                                  const ProgramShelf* trees, bool* had_tree) {
  v1::SearchState state;
  if (!state.ParseFromString(bytes)) {
    return absl::DataLossError("the saved state of the search cannot be read");
  }
  if (state.version() == 1) {
    if (!state.mutable_log()->ParseFromString(bytes)) {
      return absl::DataLossError("the saved state of the search cannot be read");
    }
    UpgradeFromVersion1(&state);
  }
  if (state.version() != kSearchStateVersion) {
    return absl::DataLossError(absl::StrCat("the saved state of the search has version ",
                                            state.version(), ", this program reads version ",
                                            kSearchStateVersion));
  }
  if (had_tree != nullptr) *had_tree = !state.world_model().nodes().empty();
  if (state.world_model().nodes().empty() && trees != nullptr) {
    RETURN_IF_ERROR(ReadTree(*trees, state.mutable_world_model()));
  }
  if (const absl::Status sound = CheckInvariants(state.world_model()); !sound.ok()) {
    return absl::DataLossError(
        absl::StrCat("saved state of the search: ", std::string(sound.message())));
  }
  return state;
}

void ReopenSearch(int rounds, v1::SearchState* state) {
  const bool failed = state->stage() == v1::SearchState::FAILED;
  const bool finished = state->stage() == v1::SearchState::FINISHED;
  if (!failed && !(finished && rounds > state->rounds_at_finish())) return;
  state->set_stage(state->resume_stage());
  state->clear_finish_reason();
  state->mutable_log()->clear_consecutive_failures();
  state->set_proposed_at_revision(-1);
  state->clear_proposed_for_cycle();
  // An INIT given up on is tried anew.
  if (state->stage() == v1::SearchState::INIT) state->clear_init_attempts();
}

void DescribeSearch(const v1::SearchState& state, v1::RunStatus* status) {
  status->set_rounds_done(state.rounds_done());
  status->set_best_screened(state.log().best_screened());
  status->set_candidates(state.log().candidates());
  status->set_passed(state.log().passed());
  status->set_nodes(state.world_model().nodes_size());
  status->set_open_actions(CountOpenActions(state.world_model()));
  status->clear_cycles();
  for (const v1::CycleState& cycle : state.cycles()) {
    v1::CycleStatus* shown = status->add_cycles();
    shown->set_cycle(cycle.cycle());
    shown->set_node_id(cycle.node_id());
    const v1::Node* node = FindNode(state.world_model(), cycle.node_id());
    if (node != nullptr) shown->set_title(node->action().title());
    const bool trying =
        cycle.phase() == v1::CycleState::CODING || cycle.phase() == v1::CycleState::EVALUATING;
    shown->set_attempt(cycle.progress().attempts() + (trying ? 1 : 0));
    switch (cycle.phase()) {
      case v1::CycleState::CODING:
        shown->set_phase(cycle.judge().call_number() != 0 ? "judging" : "coding");
        break;
      case v1::CycleState::EVALUATING:
        shown->set_phase(!cycle.examine_tag().empty()   ? "examining"
                         : !cycle.profile_tag().empty() ? "profiling"
                                                        : "evaluating");
        break;
      case v1::CycleState::REFINING:
        shown->set_phase("refining");
        break;
      default:
        shown->set_phase("too_hard");
    }
  }
  if (state.proposing()) {
    v1::CycleStatus* shown = status->add_cycles();
    shown->set_cycle(state.cycles_started() + 1);
    shown->set_attempt(state.propose().attempts() + 1);
    shown->set_phase("proposing");
  }
}

}  // namespace ksearch

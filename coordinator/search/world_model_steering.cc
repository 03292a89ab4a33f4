// WorldModelStrategy: what people change while the search goes on.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "coordinator/search/score.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/search/world_model_strategy.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

// The score of a given program's node.
constexpr double kGivenScore = 0.5;
constexpr size_t kMaxTitleBytes = 400;
constexpr char kDefaultTitle[] = "Given program";

v1::Node NodeOf(const v1::AwaitedSolution& given, const v1::WorldModel& model,
                const std::string& task, int round) {
  v1::Node node;
  node.set_decision("given program");
  node.set_choice(given.title());
  v1::Action* action = node.mutable_action();
  action->set_title(given.title());
  action->set_description("The program as a person gave it, to be built on.");
  action->set_rationale("Inserted because it was given and passed.");
  action->set_difficulty(1);
  node = UnderRoot(model, "given", task, round, kGivenScore, std::move(node));
  // Its parent may have been pruned meanwhile.
  if (FindNode(model, given.parent_id()) != nullptr) node.set_parent_id(given.parent_id());
  return node;
}

}  // namespace

absl::StatusOr<StepOutput> WorldModelStrategy::OnSteered(const v1::SteerRunRequest& change) {
  const v1::SearchState::Stage stage = state_.stage();
  if (stage == v1::SearchState::FINISHED || stage == v1::SearchState::FAILED) {
    return absl::FailedPreconditionError(
        absl::StrCat("the search has ended: ", state_.finish_reason()));
  }
  if (stage != v1::SearchState::CYCLING) {
    return absl::FailedPreconditionError(
        "the run has no world model yet: try again once it has one");
  }
  StepOutput out;
  if (change.has_edits()) {
    RETURN_IF_ERROR(Reviser(&out)->Steer(change.edits()));
  } else {
    RETURN_IF_ERROR(ScreenSolution(change.program(), &out));
  }
  Advance(&out);
  return out;
}

bool WorldModelStrategy::AwaitsSolution(const std::string& candidate_id) const {
  const auto& awaited = state_.awaited_solutions();
  return std::any_of(awaited.begin(), awaited.end(), [&](const v1::AwaitedSolution& each) {
    return CandidateId(each.sources()) == candidate_id;
  });
}

absl::Status WorldModelStrategy::ScreenSolution(const v1::GivenSolution& given, StepOutput* out) {
  const std::string parent_id = given.parent_id().empty() ? kRootId : given.parent_id();
  const v1::Node* const parent = FindNode(state_.world_model(), parent_id);
  if (parent == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("program.parent_id: there is no node \"", parent_id.substr(0, 80), "\""));
  }
  if (given.title().size() > kMaxTitleBytes) {
    return absl::InvalidArgumentError(absl::StrCat("program.title has ", given.title().size(),
                                                   " bytes, at most ", kMaxTitleBytes,
                                                   " are allowed"));
  }
  const std::string id = CandidateId(given.sources());
  if (const v1::ScreenedProgram* known = log().Find(id); known != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("program: the run has evaluated this program already, in round ",
                     known->round(), ": ", Verdict(*known)));
  }
  const auto& cycles = state_.cycles();
  if (AwaitsSolution(id) || std::any_of(cycles.begin(), cycles.end(), [&](const auto& cycle) {
        return cycle.awaited_candidate_id() == id;
      })) {
    return absl::InvalidArgumentError("program: it is being evaluated already");
  }
  state_.set_solutions_given(state_.solutions_given() + 1);
  ScreenCandidate screen;
  screen.tag = absl::StrCat(kGivenTagStart, state_.solutions_given());
  screen.sources = given.sources();
  screen.candidate_id = id;
  screen.node_id = parent_id;
  screen.parent_candidate_id = parent->solution().candidate_id();
  v1::AwaitedSolution* awaited = state_.add_awaited_solutions();
  awaited->set_screen_tag(screen.tag);
  awaited->set_parent_id(parent_id);
  awaited->set_title(given.title().empty() ? kDefaultTitle : given.title());
  *awaited->mutable_sources() = given.sources();
  v1::RunEvent* event = AddEvent(v1::RunEvent::STEERED,
                                 absl::StrCat("a person gave a program: ", awaited->title()), out);
  event->set_candidate_id(id);
  event->set_node_id(parent_id);
  event = AddEvent(v1::RunEvent::CANDIDATE_PROPOSED, "given by a person", out);
  event->set_candidate_id(id);
  event->set_node_id(parent_id);
  out->screens.push_back(std::move(screen));
  return absl::OkStatus();
}

bool WorldModelStrategy::TakeSolution(const ScreenResult& result, StepOutput* out) {
  auto* const all = state_.mutable_awaited_solutions();
  const auto found = std::find_if(all->begin(), all->end(), [&](const v1::AwaitedSolution& each) {
    return each.screen_tag() == result.tag;
  });
  if (found == all->end()) return false;
  const v1::AwaitedSolution given = std::move(*found);
  all->erase(found);
  const v1::ScreenedProgram program =
      log().Record(result.result, CandidateId(given.sources()), given.sources(), /*round=*/0);
  v1::RunEvent* event = AddEvent(v1::RunEvent::NOTE, Verdict(program), out);
  DescribeVerdict(program, event);
  event->set_node_id(given.parent_id());
  if (!program.passed()) return true;
  v1::WorldModel* model = state_.mutable_world_model();
  const v1::Node* node =
      AppendNode(model, NodeOf(given, *model, settings_.task, state_.rounds_started()));
  const std::string node_id = node->node_id();
  const std::string base = FindNode(*model, node->parent_id())->solution().candidate_id();
  CHECK_OK(AttachSolution(model, node_id, SolutionOf(program, base)));
  KeepSolution(program);
  event = AddEvent(v1::RunEvent::NODE_INSERTED,
                   absl::StrCat(given.title(), " (under ", FindNode(*model, node_id)->parent_id(),
                                "): ", Verdict(program)),
                   out);
  event->set_node_id(node_id);
  return true;
}

}  // namespace ksearch

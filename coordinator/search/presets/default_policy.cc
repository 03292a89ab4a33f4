#include "coordinator/search/presets/default_policy.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/search/code_answer.h"
#include "coordinator/search/presets/default_calls.h"
#include "coordinator/search/presets/default_reviser.h"
#include "coordinator/search/step_parts.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

constexpr double kTellingGain = 1.2;

}  // namespace

void DefaultPolicy::Settle(const SearchContext& context, SearchSettings* settings) const {
  const v1::RunConfig& config = context.config;
  const v1::WorldModelSettings& model = config.world_model();
  settings->preset = v1::PRESET_DEFAULT;
  settings->edit_mode = EditMode::kTransactional;
  settings->init_attempts = settings->edit_attempts;
  settings->wanted_frontier = settings->parallel + 2;
  settings->selection.paper = false;
  settings->learn_from_confirmations = model.learn_from_confirmations();
  settings->revised_rules = model.has_learn_from_confirmations();
  settings->dominated_ratio = model.dominated_ratio();
  const auto& baselines = context.task.baselines();
  settings->time_baseline_first =
      model.time_baseline_first() &&
      std::any_of(baselines.begin(), baselines.end(), [&](const v1::Sources& sources) {
        return sources.language() == config.language();
      });
  settings->evaluation.preset = v1::PRESET_DEFAULT;
  settings->evaluation.shows_profiles = true;
  settings->evaluation.examine_new_bests = settings->learn_from_confirmations &&
                                           settings->evaluation.on_gpu && model.examine_new_bests();
}

std::unique_ptr<TreeReviser> DefaultPolicy::MakeReviser(const SearchSettings& settings,
                                                        v1::SearchState* state,
                                                        StepOutput* out) const {
  return std::make_unique<DefaultReviser>(settings, state, out);
}

std::unique_ptr<const CallBuilder> DefaultPolicy::MakeCalls(const SearchContext& context,
                                                            const SearchSettings& settings,
                                                            Proposer proposer) const {
  return std::make_unique<DefaultCalls>(context, settings, std::move(proposer));
}

std::string DefaultPolicy::Refused(const std::string& reply) const { return RefusedReply(reply); }

std::string DefaultPolicy::PlanIn(const std::string& reply) const { return IdeaIn(reply); }

bool DefaultPolicy::HasAskedForIntents(const v1::SearchState& state) const {
  return state.proposed_at_revision() == state.world_model().revision();
}

void DefaultPolicy::NoteGain(const v1::ScreenedProgram& program, double before,
                             const v1::CycleState& cycle, v1::SearchState* state) const {
  if (!(before > 0) || program.score() < kTellingGain * before) return;
  const int64_t revision = state->world_model().revision();
  AddGain(state->mutable_world_model(), cycle.node_id(),
          absl::StrFormat("%.2f became %.2f in round %d%s%s", before, program.score(),
                          cycle.round(), cycle.plan().empty() ? "" : ": ", cycle.plan()));
  KeepProposedSince(revision, state);
}

void DefaultPolicy::NoteLessons(const v1::CycleState& cycle, v1::WorldModel* model) const {
  for (const std::string& lesson : cycle.lessons()) AddLesson(model, cycle.node_id(), lesson);
}

std::string DefaultPolicy::NoteTooHard(const SearchSettings& settings, const v1::CycleState& cycle,
                                       v1::SearchState* state) const {
  v1::WorldModel* model = state->mutable_world_model();
  const bool closed = RecordTooHard(model, cycle.node_id(), settings.too_hard_decay,
                                    settings.too_hard_limit, cycle.round());
  if (closed) state->mutable_to_repair()->erase(cycle.node_id());
  return absl::StrFormat("; score lowered to %.2f%s",
                         FindNode(*model, cycle.node_id())->action().score(),
                         closed ? "; closed" : "");
}

}  // namespace ksearch

#include "coordinator/search/presets/paper_policy.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/search/presets/paper_calls.h"
#include "coordinator/search/presets/paper_reviser.h"
#include "coordinator/world_model/text.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

// Constants of K-Search's published code.
constexpr int kInitAttempts = 2;
constexpr int kWantedFrontier = 3;
constexpr size_t kReferenceInNotes = 1800;

}  // namespace

void PaperPolicy::Settle(const SearchContext& context, SearchSettings* settings) const {
  settings->preset = v1::PRESET_PAPER;
  settings->edit_mode = EditMode::kPaper;
  settings->init_attempts = kInitAttempts;
  settings->wanted_frontier = kWantedFrontier;
  settings->selection.paper = true;
  settings->learn_from_confirmations = false;
  settings->revised_rules = false;
  settings->dominated_ratio = 0;
  settings->time_baseline_first = false;
  settings->evaluation.preset = v1::PRESET_PAPER;
  // The published system shows no profiles, but a judge reads them.
  settings->evaluation.shows_profiles = context.config.judge();
  settings->evaluation.examine_new_bests = false;
}

std::unique_ptr<TreeReviser> PaperPolicy::MakeReviser(const SearchSettings& settings,
                                                      v1::SearchState* state,
                                                      StepOutput* out) const {
  return std::make_unique<PaperReviser>(settings, state, out);
}

std::unique_ptr<const CallBuilder> PaperPolicy::MakeCalls(const SearchContext& context,
                                                          const SearchSettings& settings,
                                                          Proposer proposer) const {
  return std::make_unique<PaperCalls>(context, settings, std::move(proposer));
}

void PaperPolicy::CompleteFirstTree(const v1::Task& task, v1::WorldModel* model) const {
  const std::string& reference = task.definition().reference_text();
  v1::Node* root = FindMutableNode(model, kRootId);
  if (reference.empty() || root == nullptr) return;
  root->set_notes(absl::StrCat(root->notes(), root->notes().empty() ? "" : "\n",
                               "Reference Implementation:\n",
                               CutText(reference, kReferenceInNotes)));
}

bool PaperPolicy::HasAskedForIntents(const v1::SearchState& state) const {
  return state.proposed_for_cycle() == state.cycles_started() + 1;
}

void PaperPolicy::NoteProgram(const v1::ScreenedProgram& program, v1::SearchState* state) const {
  *state->mutable_last_program() = program;
}

}  // namespace ksearch

#include "coordinator/search/population/evoengineer.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/proposer/attempt_prompt.h"
#include "coordinator/search/archive/draw.h"
#include "coordinator/search/reply_form_setting.h"

namespace ksearch {
namespace {

// Working programs, the best first.
MemberList Working(const v1::AttemptSearchState& state) {
  MemberList working =
      MembersThat(state.evoengineer().members(),
                  [&](const v1::PopulationMember& member) { return Works(state.log(), member); });
  SortByFitness(state.log(), &working);
  return working;
}

}  // namespace

void EvoEngineer::Complete(v1::EvoEngineerSettings* settings, SettingFaults* faults) {
  v1::EvoEngineerSettings* s = settings;
  if (s->preset().empty()) s->set_preset("full");
  const bool full = s->preset() == "full";
  const bool free = s->preset() == "free";
  faults->Require(
      full || free || s->preset() == "insight",
      absl::StrCat("evoengineer.preset is \"", s->preset(), "\", must be full, insight or free"));
  if (!s->has_population()) s->set_population(5);
  if (!s->has_samples()) s->set_samples(4);
  if (!s->has_ideas()) s->set_ideas(free ? 0 : 3);
  if (!s->has_valid_required()) s->set_valid_required(full ? 2 : 0);
  s->set_reply_form(
      CompleteReplyForm("evoengineer.reply_form", s->reply_form(), v1::REPLY_FORM_WHOLE, faults));
  faults->Range("evoengineer.population", s->population(), 2, 100);
  faults->Range("evoengineer.samples", s->samples(), 2, 64);
  faults->Range("evoengineer.ideas", s->ideas(), 0, 16);
  faults->Range("evoengineer.valid_required", s->valid_required(), 0, s->population());
}

int EvoEngineer::GenerationSize(const v1::EvoEngineerState& books) const {
  // Two operations share a generation of the full level.
  return full_ && books.generation() > 0 ? settings_.samples() / 2 * 2 : settings_.samples();
}

bool EvoEngineer::MayBegin(const State& state) const {
  return state.evoengineer().begun() < GenerationSize(state.evoengineer());
}

const v1::PopulationMember& EvoEngineer::DrawByRank(const MemberList& ranked, Rng& rng) {
  std::vector<double> weights;
  for (size_t rank = 0; rank < ranked.size(); ++rank) {
    weights.push_back(1.0 / static_cast<double>(rank + ranked.size()));
  }
  return *ranked[DrawWeighted(weights, rng)];
}

v1::AttemptPlan EvoEngineer::Plan(State* state, Rng& rng) const {
  v1::EvoEngineerState* books = state->mutable_evoengineer();
  const int place = books->begun();
  books->set_begun(place + 1);
  v1::AttemptPlan plan;
  const MemberList working = Working(*state);
  if (working.empty()) {
    plan.set_kind(v1::AttemptPlan::SAMPLE);
    plan.set_operation("init");
    return plan;
  }
  const v1::PopulationMember& best = *working.front();
  if (!full_ || books->generation() == 0) {
    plan = PlanFrom(state->log(), best);
    plan.set_operation("init");
  } else if (place < GenerationSize(*books) / 2) {
    // Both parents may be the same program.
    const v1::PopulationMember& first = DrawByRank(working, rng);
    const v1::PopulationMember& second = DrawByRank(working, rng);
    plan = PlanFrom(state->log(), first);
    ShowAlso({&second, &best}, &plan);
    if (plan.inspiration_ids_size() > 0) plan.set_kind(v1::AttemptPlan::CROSS);
    plan.set_operation("crossover");
  } else {
    plan = PlanFrom(state->log(), DrawByRank(working, rng));
    ShowAlso({&best}, &plan);
    plan.set_operation("mutation");
  }
  plan.set_style(kStyleParent);
  plan.set_reply_form(settings_.reply_form());
  plan.set_hides_results(!shows_results_);
  // Ideas of any programs, including failed ones.
  MemberList ideas = MembersThat(
      books->members(), [](const v1::PopulationMember& member) { return !member.idea().empty(); });
  for (const v1::PopulationMember* member :
       DrawSome(std::move(ideas), static_cast<size_t>(settings_.ideas()), rng)) {
    plan.add_notes(member->idea());
  }
  return plan;
}

void EvoEngineer::TakeGiven(const v1::ScreenedProgram& program, const v1::ProgramFeatures& features,
                            State* state, Rng& /*rng*/) const {
  v1::EvoEngineerState* books = state->mutable_evoengineer();
  books->set_last_number(
      AddMember(GivenMember(program, features, 0), books->last_number(), books->mutable_members())
          ->number());
}

void EvoEngineer::TakeEnded(const EndedAttempt& ended, State* state, Rng& /*rng*/) const {
  v1::EvoEngineerState* books = state->mutable_evoengineer();
  if (ended.program != nullptr) {
    books->set_last_number(
        AddMember(ChildOf(ended), books->last_number(), books->mutable_members())->number());
  }
  // Every reply counts as a sample, even without a program.
  books->set_ended(books->ended() + 1);
  if (books->ended() >= GenerationSize(*books)) EndGeneration(state);
}

void EvoEngineer::EndGeneration(State* state) const {
  v1::EvoEngineerState* books = state->mutable_evoengineer();
  const MemberList working = Working(*state);
  const bool enough = static_cast<int>(working.size()) >= settings_.valid_required();
  if (books->generation() > 0 || enough) books->set_generation(books->generation() + 1);
  books->set_begun(0);
  books->set_ended(0);
  // The best working programs, then the latest failed ones.
  MemberList kept = working;
  const Members& members = books->members();
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    if (!Works(state->log(), *member)) kept.push_back(&*member);
  }
  if (kept.size() > static_cast<size_t>(settings_.population())) {
    kept.resize(static_cast<size_t>(settings_.population()));
  }
  std::vector<int> removed;
  for (const v1::PopulationMember& member : members) {
    if (!Contains(kept, member)) removed.push_back(member.number());
  }
  for (const int number : removed) RemoveMember(number, books->mutable_members());
}

}  // namespace ksearch

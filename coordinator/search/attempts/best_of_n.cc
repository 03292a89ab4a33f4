#include "coordinator/search/attempts/best_of_n.h"

namespace ksearch {

void BestOfN::Complete(v1::BestOfNSettings* settings, SettingFaults* /*faults*/) {
  if (!settings->has_show_seed()) settings->set_show_seed(true);
}

v1::AttemptPlan BestOfN::Plan(State* state, Rng& /*rng*/) const {
  v1::AttemptPlan plan;
  plan.set_kind(v1::AttemptPlan::SAMPLE);
  if (!show_seed_) return plan;
  const v1::ScreenedProgram* best = nullptr;
  for (const v1::ScreenedProgram* given : GivenPrograms(state->log())) {
    if (given->passed() && (best == nullptr || given->score() > best->score())) best = given;
  }
  if (best != nullptr) {
    plan.set_kind(v1::AttemptPlan::VARY);
    plan.set_base_id(best->candidate_id());
  }
  return plan;
}

}  // namespace ksearch

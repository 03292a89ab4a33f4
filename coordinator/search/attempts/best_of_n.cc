#include "coordinator/search/attempts/best_of_n.h"

namespace ksearch {

void BestOfN::Complete(v1::BestOfNSettings* settings, SettingFaults* /*faults*/) {
  if (!settings->has_show_seed()) settings->set_show_seed(true);
}

v1::AttemptPlan BestOfN::Plan(const v1::AttemptSearchState& state) const {
  v1::AttemptPlan plan;
  plan.set_kind(v1::AttemptPlan::SAMPLE);
  const v1::ScreenedProgram& seed = state.log().seed();
  if (show_seed_ && seed.passed()) {
    plan.set_kind(v1::AttemptPlan::VARY);
    plan.set_base_id(seed.candidate_id());
  }
  return plan;
}

}  // namespace ksearch

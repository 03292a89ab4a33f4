#ifndef KSEARCH_COORDINATOR_SEARCH_PRESETS_DEFAULT_REVISER_H_
#define KSEARCH_COORDINATOR_SEARCH_PRESETS_DEFAULT_REVISER_H_

#include <string>

#include "coordinator/search/tree_reviser.h"

namespace ksearch {

// Preset default: a script with faults is rejected, and the model is asked again with the list of
// all faults, and of the operations that were applied nevertheless if that is on
// (SearchSettings.revised_rules).
class DefaultReviser : public TreeReviser {
 public:
  using TreeReviser::TreeReviser;

  // Demands three open actions; in the end it takes the best script so far, or one deterministic
  // action.
  Revision Initialize(const absl::StatusOr<v1::EditScript>& script, bool last) override;
  std::string ProposeRequirement() const override;
  Revision Propose(const absl::StatusOr<v1::EditScript>& script) override;
  // Where nothing at all is left to try, there is one deterministic action, once in a search.
  void FinishPropose() override;
  Revision Refine(const absl::StatusOr<v1::EditScript>& script, v1::CycleState* cycle) override;
  void FinishRefine(const v1::CycleState& cycle) override;
  Revision NoteTooHard(const absl::StatusOr<v1::EditScript>& script,
                       const v1::CycleState& cycle) override;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PRESETS_DEFAULT_REVISER_H_

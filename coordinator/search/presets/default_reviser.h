#ifndef KSEARCH_COORDINATOR_SEARCH_PRESETS_DEFAULT_REVISER_H_
#define KSEARCH_COORDINATOR_SEARCH_PRESETS_DEFAULT_REVISER_H_

#include <string>

#include "coordinator/search/tree_reviser.h"

namespace ksearch {

// Preset default: rejects a script with errors and asks the model again, with a list of all errors
// and, if SearchSettings.revised_rules is set, of the operations that were applied anyway.
class DefaultReviser : public TreeReviser {
 public:
  using TreeReviser::TreeReviser;

  // Demands three open actions; at the last reply, accepts the best script so far, or inserts one
  // deterministic action.
  Revision Initialize(const absl::StatusOr<v1::EditScript>& script, bool last) override;
  std::string ProposeRequirement() const override;
  Revision Propose(const absl::StatusOr<v1::EditScript>& script) override;
  // If nothing is left to try, inserts one deterministic action, once per search.
  void FinishPropose() override;
  Revision Refine(const absl::StatusOr<v1::EditScript>& script, v1::CycleState* cycle) override;
  void FinishRefine(const v1::CycleState& cycle) override;
  Revision NoteTooHard(const absl::StatusOr<v1::EditScript>& script,
                       const v1::CycleState& cycle) override;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PRESETS_DEFAULT_REVISER_H_

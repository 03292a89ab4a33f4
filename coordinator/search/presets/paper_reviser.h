#ifndef KSEARCH_COORDINATOR_SEARCH_PRESETS_PAPER_REVISER_H_
#define KSEARCH_COORDINATOR_SEARCH_PRESETS_PAPER_REVISER_H_

#include <string>

#include "coordinator/search/tree_reviser.h"

namespace ksearch {

// Preset paper: applies each valid edit, and keeps it even if later edits of the script fail.
// Replies to a PROPOSE accumulate and are applied together at its end; an unreadable reply discards
// those before it.
class PaperReviser : public TreeReviser {
 public:
  using TreeReviser::TreeReviser;

  // Accepts any tree.
  Revision Initialize(const absl::StatusOr<v1::EditScript>& script, bool last) override;
  std::string ProposeRequirement() const override;
  // Done as soon as some executable action has a score above 0.5.
  Revision Propose(const absl::StatusOr<v1::EditScript>& script) override;
  void FinishPropose() override;
  // Done once no edit was skipped and the solved node has a continuation.
  Revision Refine(const absl::StatusOr<v1::EditScript>& script, v1::CycleState* cycle) override;
  void FinishRefine(const v1::CycleState& cycle) override;
  // Accepts one reply, whatever it says.
  Revision NoteTooHard(const absl::StatusOr<v1::EditScript>& script,
                       const v1::CycleState& cycle) override;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_PRESETS_PAPER_REVISER_H_

#include "coordinator/engine/waiting_watch.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/mailbox/mailbox_folder.h"

namespace ksearch {

std::optional<std::string> WaitingWatch::Check() const {
  const RunRegistry::Standing standing = runs_->standing();
  if (!standing.any_yet || !standing.all_wait || standing.awaited.evaluations > 0 ||
      evaluations_() > 0) {
    return std::nullopt;
  }
  if (standing.active == 0) return "no run is active";
  // Read after the runs: a call answered before that is no longer parked.
  const auto parked = models_->ParkedCalls();
  std::vector<std::string> ids;
  for (const std::string& call_id : standing.awaited.calls) {
    if (!parked.contains(call_id)) return std::nullopt;
    ids.push_back(MailboxFolder::IdOf(call_id));
  }
  return absl::StrCat(ids.size(), ids.size() == 1 ? " prompt waits" : " prompts wait",
                      " for an answer in the mailbox: ", absl::StrJoin(ids, ", "));
}

}  // namespace ksearch

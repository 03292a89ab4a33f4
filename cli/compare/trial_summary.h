#ifndef KSEARCH_CLI_COMPARE_TRIAL_SUMMARY_H_
#define KSEARCH_CLI_COMPARE_TRIAL_SUMMARY_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proto/experiment.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// What a run's events and final status say of it, but for what is measured again: `speedup` is
// best_screened or 1. `flagged_again`: candidates that measuring again refused as cheats or found
// suspicious. Pure.
v1::TrialSummary SummaryOf(const v1::RunStatus& status, const std::vector<v1::RunEvent>& events,
                           const std::set<std::string>& flagged_again = {});

// The run's best screened candidates that nothing speaks against, best first; at most `count`.
struct ScreenedCandidate {
  std::string candidate_id;
  double speedup = 0;
};
std::vector<ScreenedCandidate> BestScreened(const std::vector<v1::RunEvent>& events, int count);

// What a session found of a candidate.
struct SessionVerdict {
  // Over the baseline on all workloads; nullopt: it did not hold (it failed, or is suspicious).
  std::optional<double> speedup;
  bool flagged = false;  // as a cheat or suspicious
};
SessionVerdict VerdictOf(const v1::JobResult& result);

// Takes into the summary what sessions found of one candidate: `sessions` are those that chose
// nothing. A candidate slower than the baseline leaves the baseline as the answer.
void SetRemeasured(const ScreenedCandidate& chosen, const std::vector<double>& sessions,
                   v1::TrialSummary* summary);
// No candidate held.
void SetNothingHeld(v1::TrialSummary* summary);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPARE_TRIAL_SUMMARY_H_

#ifndef KSEARCH_CLI_COMPARE_TRIAL_SUMMARY_H_
#define KSEARCH_CLI_COMPARE_TRIAL_SUMMARY_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proto/experiment.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Summarizes a run from its events and final status, without the repeated measurements: `speedup`
// is best_screened or 1. `flagged_again`: candidates that repeated measurements refused as cheats
// or found suspicious. Pure.
v1::TrialSummary SummaryOf(const v1::RunStatus& status, const std::vector<v1::RunEvent>& events,
                           const std::set<std::string>& flagged_again = {});

// One of the run's best screened candidates that no later result speaks against. BestScreened
// returns at most `count`, best first.
struct ScreenedCandidate {
  std::string candidate_id;
  double speedup = 0;
};
std::vector<ScreenedCandidate> BestScreened(const std::vector<v1::RunEvent>& events, int count);

// The verdict of one session on a candidate.
struct SessionVerdict {
  // Over the baseline on all workloads; nullopt if the candidate failed or is suspicious.
  std::optional<double> speedup;
  bool flagged = false;  // as a cheat or suspicious
};
SessionVerdict VerdictOf(const v1::JobResult& result);

// Adds the verdicts of sessions on one candidate to the summary. `sessions` excludes those that
// were used to choose it. A candidate slower than the baseline leaves the baseline as the answer.
void SetRemeasured(const ScreenedCandidate& chosen, const std::vector<double>& sessions,
                   v1::TrialSummary* summary);
// Records that no candidate held.
void SetNothingHeld(v1::TrialSummary* summary);

}  // namespace ksearch

#endif  // KSEARCH_CLI_COMPARE_TRIAL_SUMMARY_H_

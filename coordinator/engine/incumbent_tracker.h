#ifndef KSEARCH_COORDINATOR_ENGINE_INCUMBENT_TRACKER_H_
#define KSEARCH_COORDINATOR_ENGINE_INCUMBENT_TRACKER_H_

#include <optional>
#include <string>
#include <vector>

#include "proto/result.pb.h"
#include "proto/run_state.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Decides which screened candidates are worth a confirmation and which confirmed one is the best.
// Screening numbers only choose who is confirmed next; they never enter the verdict (the winner's
// curse: the best of many noisy measurements is too good on average). One confirmation at a time,
// best screened first. All confirmations of a run share one error probability, the chance that any
// of them calls a challenger improved that is not. The n-th may spend 6 / (pi^2 n^2) of it, which
// sums to 1, plus what the previous one left. A confirmation that finds an improvement, or that
// ends without a comparison, leaves its whole share to the next ("online fallback", Tian and Ramdas
// 2021): so a chain of improvements does not use up the error, only challengers that fail do. A
// pure state machine; thread-compatible.
class IncumbentTracker {
 public:
  struct Confirmation {
    std::string tag;
    std::string candidate_id;
    std::string incumbent_id;  // empty: the baseline
    double error_share = 0;    // in (0, 1]: of the run's error, 1 - MeasurePlan.confidence
  };
  struct Step {
    std::optional<Confirmation> start;  // submit this job
    std::vector<v1::RunEvent> events;
  };

  // A challenger's screened score must exceed (1 + min_gain) times the incumbent's.
  explicit IncumbentTracker(double min_gain) : min_gain_(min_gain) {}

  // A screening ended with `score` (speed-up over the baseline). Only passed, unsuspicious results
  // of candidates not seen before matter.
  Step OnScreened(const v1::JobResult& result, const std::string& candidate_id,
                  const std::string& node_id, int round, double score);
  // An examination refused this candidate: it is removed from the queue and not added again, and if
  // its confirmation is in progress, that cannot make it the incumbent.
  void Refuse(const std::string& candidate_id);
  // The confirmation with this tag ended. If it was lost with its worker, it is tried once more.
  Step OnConfirmed(const std::string& tag, const v1::JobResult& result);

  bool busy() const { return !state_.confirming().candidate_id().empty(); }
  // Absent until something is confirmed.
  std::optional<v1::BestSummary> best() const;
  const v1::IncumbentState& state() const { return state_; }
  void Restore(const v1::IncumbentState& state) { state_ = state; }

 private:
  bool IsRefused(const std::string& candidate_id) const;
  void PutInLine(const v1::IncumbentState::Challenger& challenger);
  void StartNext(Step* step);

  const double min_gain_;
  v1::IncumbentState state_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_INCUMBENT_TRACKER_H_

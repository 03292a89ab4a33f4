#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_IN_TURN_TIMES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_IN_TURN_TIMES_H_

#include <string>

#include "gpu_worker/verifier/timing/side_times.h"

namespace ksearch {

// The times of calls in turn (WorkloadSession::RunInTurn), and the rule by which they charge a
// candidate that works ahead: one that does the work of later calls in an earlier one is no faster
// in turn. A program is as ready in turn as in a batch, so the ratio of the two sides must be the
// same; a call alone (AloneCalls) costs an honest program more, too. Thread-compatible.
class InTurnTimes {
 public:
  void Add(bool of_candidate, double us) { times_.Add(of_candidate, us); }
  bool empty() const { return times_.empty(); }
  // How much longer a call of the candidate takes than in a batch, where it takes `candidate_us`
  // and one of the rival `rival_us`: what is missing until their ratio is that of the calls in
  // turn. 0 if that is little (kInTurnShare, kInTurnMicros), or if batches show the candidate
  // slower.
  double ExtraMicros(double rival_us, double candidate_us) const;
  // How much longer a call of the candidate takes than in a batch, beyond what the rival's does.
  // May be negative.
  double LongerMicros(double rival_us, double candidate_us) const;
  // Times of rival and candidate for the log, as key=rival/candidate.
  std::string Summary() const;

 private:
  SideTimes times_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_IN_TURN_TIMES_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_IN_TURN_TIMES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_IN_TURN_TIMES_H_

#include <string>
#include <vector>

namespace ksearch {

// The times of calls in turn (WorkloadSession::RunInTurn), of both sides of a comparison. A program
// that works ahead, doing the work of later calls in an earlier one, is no faster there.
// Thread-compatible.
class InTurnTimes {
 public:
  void Add(bool of_candidate, double us);
  bool empty() const { return rival_us_.empty() || candidate_us_.empty(); }
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
  std::vector<double> rival_us_;
  std::vector<double> candidate_us_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_IN_TURN_TIMES_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_ALONE_CALLS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_ALONE_CALLS_H_

#include <string>

#include "gpu_worker/verifier/timing/side_times.h"

namespace ksearch {

// The times of calls that are made alone, each on inputs that did not exist when the previous call
// ended, and the rule by which they charge a candidate that works ahead: if it computes, in one
// call of a batch, the results of later calls, which then only compare inputs, it gives right
// answers, but is not faster when called alone. A call alone costs an honest program more, too, so
// some of that is allowed, unlike for calls in turn (InTurnTimes). Thread-compatible.
class AloneCalls {
 public:
  // What a call may take longer alone: this share of its time, and this much in addition.
  AloneCalls(double share, double allowed_us) : share_(share), allowed_us_(allowed_us) {}

  void Add(bool of_candidate, double us) { times_.Add(of_candidate, us); }
  bool empty() const { return times_.empty(); }
  // How much longer the candidate's median call takes alone than in a batch, where it takes
  // `candidate_us`, minus the same for the rival. 0 up to what is allowed, because a call alone
  // finds no code in the caches. `beside_us`: what a call alone may cost in addition on both sides.
  double ExtraMicros(double rival_us, double candidate_us, double beside_us = 0) const;
  // Times of rival and candidate for the log, as key=rival/candidate.
  std::string Summary() const;

 private:
  double Allowed(double us) const;

  double share_;
  double allowed_us_;
  SideTimes times_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_ALONE_CALLS_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_ALONE_CALLS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_ALONE_CALLS_H_

#include <string>
#include <vector>

namespace ksearch {

// The times of calls that are made alone, each on inputs that did not exist when the previous call
// ended. A program that works ahead (in one call of a batch it computes the results of later calls,
// which then only compare inputs) gives right answers, but is not faster when called alone.
// Thread-compatible.
class AloneCalls {
 public:
  // What a call may take longer alone: this share of its time, and this much in addition.
  AloneCalls(double share, double allowed_us) : share_(share), allowed_us_(allowed_us) {}

  void Add(bool of_candidate, double us);
  bool empty() const { return rival_us_.empty() || candidate_us_.empty(); }
  // How much longer the candidate's median call takes alone than in a batch, where it takes
  // `candidate_us`, minus the same for the rival. 0 up to what is allowed, because a call alone
  // finds no code in the caches. `beside_us`: what a call alone may cost in addition on both sides.
  double ExtraMicros(double rival_us, double candidate_us, double beside_us = 0) const;
  // Times of rival and candidate for the log, as "rival / candidate".
  std::string Summary() const;

 private:
  double Allowed(double us) const;

  double share_;
  double allowed_us_;
  std::vector<double> rival_us_;
  std::vector<double> candidate_us_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_ALONE_CALLS_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_ALONE_CALLS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_ALONE_CALLS_H_

#include <string>
#include <vector>

namespace ksearch {

// What calls take that are made one at a time, each on inputs that were not there when the call
// before it ended. A program that works ahead (it computes what later calls of a batch need, all at
// once, and only compares their inputs in these calls) gives right answers, but is no faster by
// itself. By the runners' clocks, since the verifier's does not resolve a single call.
// Thread-compatible.
class AloneCalls {
 public:
  void Add(bool of_candidate, double us);
  bool empty() const { return rival_us_.empty() || candidate_us_.empty(); }
  // What the candidate's median call takes longer by itself than in a batch, where a call takes
  // `candidate_us`, beyond what the rival's does; 0 up to kAloneShare of a call in a batch and
  // kAloneMicros, since by itself a call finds no code in the caches.
  double ExtraMicros(double rival_us, double candidate_us) const;
  // Of the rival / of the candidate, for the log.
  std::string Summary() const;

 private:
  std::vector<double> rival_us_;
  std::vector<double> candidate_us_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_DEVICE_ALONE_CALLS_H_

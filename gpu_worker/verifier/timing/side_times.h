#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_SIDE_TIMES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_SIDE_TIMES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ksearch {

// The times of calls, or of blocks of calls, of both sides of a comparison. Thread-compatible.
struct SideTimes {
  std::vector<double> rival_us;
  std::vector<double> candidate_us;

  void Add(bool of_candidate, double us);
  // Returns true unless both sides have times: nothing can be compared then.
  bool empty() const { return rival_us.empty() || candidate_us.empty(); }
  // A quantile of each side's times for the log, as name=rival/candidate; empty if empty().
  std::string Summary(absl::string_view name, double quantile) const;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_SIDE_TIMES_H_

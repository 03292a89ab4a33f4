#ifndef KSEARCH_GPU_WORKER_VERIFIER_JUDGES_DRAW_PLACES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_JUDGES_DRAW_PLACES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/rng.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// The places of tokens among those that may be drawn in their rows, likeliest first, as shares of
// the probability. They are evenly spread if tokens are drawn by their probabilities, whatever the
// inputs of each call are (SuiteRule::SAMPLES).
class DrawPlaces {
 public:
  // Adds those of up to `most_rows` tokens of a call, from rows beginning with one that *rng
  // chooses.
  absl::Status Add(const WorkloadCase& workload, int64_t variant, const SavedOutputs& outputs,
                   int most_rows, Rng* rng);
  // Why they are not evenly spread, up to `most_distance` and chance; empty if they are.
  std::string Fault(double most_distance) const;

 private:
  std::vector<double> places_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_JUDGES_DRAW_PLACES_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_JUDGES_TOKEN_DRAWS_H_
#define KSEARCH_GPU_WORKER_VERIFIER_JUDGES_TOKEN_DRAWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/rng.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/workload_case.h"

namespace ksearch {

// Tells whether tokens are drawn by their probabilities, from few tokens of many calls, whatever
// the inputs of each call are (SuiteRule::SAMPLES). Looked at are
// - the tokens' places among those that may be drawn in their rows, likeliest first, as shares of
//   the probability: they are evenly spread;
// - for each bit of a token's index, how often it is set: a program that reads a part of each row
//   never draws the others;
// - how often the likeliest token is drawn where it has at least half of the probability: a program
//   that reads another part each time misses it.
// Thread-compatible.
class TokenDraws {
 public:
  // Adds up to `most_rows` tokens of a call, from rows beginning with one that *rng chooses.
  absl::Status Add(const WorkloadCase& workload, int64_t variant, const SavedOutputs& outputs,
                   int most_rows, Rng* rng);
  // Why they are not drawn by their probabilities, up to `most_distance` and chance; empty if they
  // are.
  std::string Fault(double most_distance) const;

 private:
  // How often something happened, and how often it had to be expected.
  class Frequency {
   public:
    void Add(bool happened, double probability);
    // Returns true if the two differ by more than `most` of all draws, and chance.
    bool Deviates(double most) const;
    // "0.512 of 400 draws, expected 0.250".
    std::string Text() const;

   private:
    int64_t draws_ = 0;
    double happened_ = 0, expected_ = 0, variance_ = 0;
  };

  void AddFrequencies(absl::Span<const double> shares, int64_t token);

  std::vector<double> places_;
  std::vector<Frequency> bits_;  // from the lowest
  Frequency likeliest_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_JUDGES_TOKEN_DRAWS_H_

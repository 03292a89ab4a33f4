#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_CALL_SAMPLE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_CALL_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/rng.h"

namespace ksearch {

// Chooses a random sample of a measurement's calls after they were made, without knowing how many
// batches there will be: at any time, each place of the sample holds any of the calls so far with
// equal probability (reservoir sampling). Thread-compatible.
class CallSample {
 public:
  // A call of the latest batch that takes a place of the sample, replacing the call that was there.
  struct Choice {
    size_t place = 0;
    size_t call = 0;
  };

  // Starts a new sample with this many places.
  void Begin(int places) {
    places_ = static_cast<size_t>(places);
    calls_so_far_ = 0;
  }

  std::vector<Choice> Add(size_t calls, Rng* rng) {
    std::vector<Choice> choices;
    calls_so_far_ += calls;
    for (size_t place = 0; place < places_ && calls > 0; ++place) {
      const auto any = static_cast<size_t>(rng->NextBelow(calls_so_far_));
      if (any < calls) choices.push_back({place, any});
    }
    return choices;
  }

 private:
  size_t places_ = 0;
  uint64_t calls_so_far_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_CALL_SAMPLE_H_

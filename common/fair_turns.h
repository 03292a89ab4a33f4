#ifndef KSEARCH_COMMON_FAIR_TURNS_H_
#define KSEARCH_COMMON_FAIR_TURNS_H_

#include <compare>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"

namespace ksearch {

// A place in a queue; the smallest is served first. `order` makes it unique.
struct Turn {
  int64_t start_us = 0;  // in virtual time
  int64_t order = 0;     // rises with age

  auto operator<=>(const Turn&) const = default;
};

// Hands out turns so that runs share a scarce resource (the workers' time, model calls in flight)
// in proportion to their priorities, however much each of them requests: start-time fair queueing
// (Goyal, Vin and Cheng, 1996). Turns of the same line keep their order. Thread-compatible.
class FairTurns {
 public:
  // A run's confirmations wait for at most one turn of each other line, not for everything that was
  // requested before them, and have at least kDefaultPriority.
  enum class Line { kUsual, kConfirmations };

  // For later requests of the run: kLeastPriority to kMostPriority.
  void SetPriority(const std::string& run_id, int priority);
  // Returns the turn of a request by `run_id` ("": by no run) that is expected to take this long.
  Turn Next(const std::string& run_id, Line line, absl::Duration expected);
  // The holder of this place is served: virtual time advances to it.
  void Reached(const Turn& turn);
  // Call when nothing waits: no run is ahead of its share then.
  void Restart() { ends_.clear(); }

 private:
  absl::flat_hash_map<std::string, int> priorities_;  // by run, unless the default one
  int64_t now_us_ = 0;                                // virtual time
  int64_t next_order_ = 1;
  // By line: where its next turn would start, had it been asked for already.
  absl::flat_hash_map<std::string, int64_t> ends_;
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_FAIR_TURNS_H_

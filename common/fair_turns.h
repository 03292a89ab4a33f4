#ifndef KSEARCH_COMMON_FAIR_TURNS_H_
#define KSEARCH_COMMON_FAIR_TURNS_H_

#include <compare>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"

namespace ksearch {

// A place in a queue; the least comes first. Unique by its `order`.
struct Turn {
  int64_t start_us = 0;  // in virtual time
  int64_t order = 0;     // rises with age

  auto operator<=>(const Turn&) const = default;
};

// Hands out turns so that runs get shares of something scarce (the workers' time, model calls in
// flight) by their priorities, equal ones by default, however much each of them asks for:
// start-time fair queueing (Goyal, Vin and Cheng, 1996). Turns of one line keep their order.
// Thread-compatible.
class FairTurns {
 public:
  // A run's confirmations wait behind at most one turn of each other line, instead of behind all
  // that was asked for before them, and count as of kDefaultPriority at least.
  enum class Line { kUsual, kConfirmations };

  // For what the run asks for from now on: kLeastPriority to kMostPriority.
  void SetPriority(const std::string& run_id, int priority);
  // For something of `run_id` ("": of no run) that is expected to take this long.
  Turn Next(const std::string& run_id, Line line, absl::Duration expected);
  // The holder of this place is served: virtual time advances to it.
  void Reached(const Turn& turn);
  // Nothing waits now, so no run is ahead of its share.
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

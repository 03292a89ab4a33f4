#ifndef KSEARCH_COORDINATOR_SCHEDULER_FAIR_TURNS_H_
#define KSEARCH_COORDINATOR_SCHEDULER_FAIR_TURNS_H_

#include <compare>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/job.pb.h"

namespace ksearch {

// A job's place in the queue; the least comes first. Unique to the job by its `order`.
struct Turn {
  int64_t start_us = 0;  // in virtual time
  int64_t order = 0;     // rises with the job's age

  auto operator<=>(const Turn&) const = default;
};

// Hands out turns so that runs get shares of the workers' time by their priorities, equal ones by
// default, however many jobs each of them asks for: start-time fair queueing (Goyal, Vin and Cheng,
// 1996). The confirmations of a run take turns of their own, so that a confirmation waits behind at
// most one job of each other line instead of behind all screenings that were asked for before it,
// and count as of kDefaultPriority at least. Jobs of one line keep their order. Thread-compatible.
class FairTurns {
 public:
  // For the jobs that the run asks for from now on: 1 to 100.
  void SetPriority(const std::string& run_id, int priority);
  // For a job of `run_id` ("": of no run, as in `ksearch eval`) that is expected to take so long.
  Turn Next(const std::string& run_id, v1::JobKind kind, absl::Duration expected);
  // A job with this place was given to a worker: virtual time is there now.
  void Reached(const Turn& turn);
  // Nothing waits any more, so no run is ahead of its share.
  void Restart() { ends_.clear(); }

 private:
  absl::flat_hash_map<std::string, int> priorities_;  // by run, unless the default one
  int64_t now_us_ = 0;                                // virtual time
  int64_t next_order_ = 1;
  // By line: where its next job would start, had it been asked for already.
  absl::flat_hash_map<std::string, int64_t> ends_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_FAIR_TURNS_H_

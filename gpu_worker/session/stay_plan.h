#ifndef KSEARCH_GPU_WORKER_SESSION_STAY_PLAN_H_
#define KSEARCH_GPU_WORKER_SESSION_STAY_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace ksearch {

// How long a worker stays. It leaves in two steps: it takes no more jobs and lets those in hand
// end, for its grace; then it gives back what has not ended. Time is steady and comes in as `now`.
// Thread-compatible.
class StayPlan {
 public:
  struct Options {
    absl::Duration idle_timeout = absl::InfiniteDuration();
    absl::Duration lifetime = absl::InfiniteDuration();  // from `start`
    std::string end_of_life = "its lifetime ends";       // why it leaves then
    absl::Duration leave_grace = absl::Seconds(60);
  };
  // What is to be done at one moment.
  struct Step {
    bool leave = false;
    bool give_back = false;  // implies `leave`
    std::string why;         // it leaves, in one line
    // Until it gives back; infinite: it stays as long as it is wanted.
    absl::Duration time_left = absl::InfiniteDuration();
    absl::Time next;  // nothing changes before, unless something happens
  };

  StayPlan(Options options, absl::Time start);

  // Leave, for this reason; absent grace: that of the options. The first reason stays, the earliest
  // end counts.
  void Leave(const std::string& why, std::optional<absl::Duration> grace, absl::Time now);
  // `busy`: jobs are in hand. `taken`: jobs accepted so far.
  Step Look(absl::Time now, bool busy, int64_t taken);

 private:
  const Options options_;
  // When jobs in hand are given back. Before the end of the lifetime, since that takes a moment.
  absl::Time end_;
  absl::Duration grace_;  // at most a quarter of the lifetime
  bool leaving_ = false;
  std::string why_;
  absl::Time last_busy_;
  int64_t taken_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_STAY_PLAN_H_

#ifndef KSEARCH_GPU_WORKER_SESSION_STAY_PLAN_H_
#define KSEARCH_GPU_WORKER_SESSION_STAY_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace ksearch {

// Decides how long a worker stays. It leaves in two steps: first it accepts no more jobs and lets
// those in progress end, for its grace; then it returns the rest. Times are monotonic and passed in
// as `now`. Thread-compatible.
class StayPlan {
 public:
  struct Options {
    absl::Duration idle_timeout = absl::InfiniteDuration();
    absl::Duration lifetime = absl::InfiniteDuration();  // counted from `start`
    std::string end_of_life = "its lifetime ends";       // why it leaves at the end of its lifetime
    absl::Duration leave_grace = absl::Seconds(60);
  };
  // The actions that are due at one moment.
  struct Step {
    bool leave = false;
    bool give_back = false;  // implies `leave`
    std::string why;         // why it leaves, in one line
    // Time until it returns jobs; infinite: it stays indefinitely.
    absl::Duration time_left = absl::InfiniteDuration();
    absl::Time next;  // time of the next change, unless something happens before
  };

  StayPlan(Options options, absl::Time start);

  // Leave for this reason; an absent grace is that of the options. The first reason is kept, the
  // earliest end applies.
  void Leave(const std::string& why, std::optional<absl::Duration> grace, absl::Time now);
  // `busy`: there are jobs in progress. `taken`: number of jobs accepted so far.
  Step Next(absl::Time now, bool busy, int64_t taken);

 private:
  const Options options_;
  // When jobs in progress are returned. Before the end of the lifetime, because returning takes a
  // moment.
  absl::Time end_;
  absl::Duration grace_;  // at most a quarter of the lifetime
  bool leaving_ = false;
  std::string why_;
  absl::Time last_busy_;
  int64_t taken_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_STAY_PLAN_H_

#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_BASELINE_CACHE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_BASELINE_CACHE_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/result.pb.h"

namespace ksearch {

// The baseline timings of this verifier's session. They expire, because a machine drifts (clocks,
// neighbors, temperature). Keys name program, task and workload. Thread-compatible.
class BaselineCache {
 public:
  struct Timing {
    v1::Samples samples;
    absl::Time measured_at;  // Clock::SteadyNow() scale
  };

  explicit BaselineCache(absl::Duration max_age) : max_age_(max_age) {}

  // Absent if it was never timed, or if the timing is older than the age allowed.
  std::optional<Timing> Find(const std::string& key, absl::Time now) const {
    const auto it = timings_.find(key);
    if (it == timings_.end() || now - it->second.measured_at > max_age_) return std::nullopt;
    return it->second;
  }
  // Also removes timings that are too old by then.
  void Store(const std::string& key, Timing timing) {
    absl::erase_if(timings_, [&](const auto& entry) {
      return timing.measured_at - entry.second.measured_at > max_age_;
    });
    timings_[key] = std::move(timing);
  }

 private:
  const absl::Duration max_age_;
  absl::flat_hash_map<std::string, Timing> timings_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_BASELINE_CACHE_H_

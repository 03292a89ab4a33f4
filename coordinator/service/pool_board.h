#ifndef KSEARCH_COORDINATOR_SERVICE_POOL_BOARD_H_
#define KSEARCH_COORDINATOR_SERVICE_POOL_BOARD_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The state of pools as autoscalers report it, and which autoscaler holds each pool, so that no two
// fill the same one. Kept in memory only: after a restart, the first autoscaler to report gets the
// pool. Thread-safe.
class PoolBoard {
 public:
  explicit PoolBoard(const Clock& clock) : clock_(clock) {}

  // As documented for ReportPool. INVALID_ARGUMENT, ABORTED, RESOURCE_EXHAUSTED (too many pools).
  // `event`: set if a fault began or ended.
  absl::Status Report(const v1::ReportPoolRequest& request, std::optional<v1::FleetEvent>* event);
  // Cost of one instance; 0: unknown.
  int64_t NanoUsdPerHour(const std::string& pool) const;
  // Ordered by name. Pools that no autoscaler has held for an hour are dropped.
  std::vector<v1::PoolStatus> Pools();

 private:
  struct Pool {
    v1::PoolReport report;
    absl::Time reported_at;      // wall clock
    absl::Time held_until;       // monotonic clock
    absl::Time forgotten_after;  // monotonic clock
  };

  const Clock& clock_;
  mutable Mutex mu_;
  std::map<std::string, Pool> pools_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_POOL_BOARD_H_
